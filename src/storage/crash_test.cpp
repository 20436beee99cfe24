#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include <gtest/gtest.h>

#include "storage/testing.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

Task<> write_for_ever(Database& database, std::int64_t number, int acknowledgements) {
  while (true) {
    co_await database.write(
        [=](Connection& connection) { testing::insert(connection, number, std::string(500, 'x')); });
    if (write(acknowledgements, &number, sizeof number) != sizeof number) _exit(1);
    number += 1000;
  }
}

/// The process to be killed: reports the number of each row after its write was awaited.
[[noreturn]] void write_until_killed(const Database::Options& options, int acknowledgements) {
  Loop loop;
  Database database(loop, options);
  TaskGroup group(loop);
  for (std::int64_t writer = 0; writer < 40; ++writer) {
    group.spawn(write_for_ever(database, writer, acknowledgements));
  }
  loop.run();
  _exit(1);
}

std::set<std::int64_t> run_and_kill(const Database::Options& options, std::size_t after) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    write_until_killed(options, ends[1]);
  }
  close(ends[1]);
  std::set<std::int64_t> acknowledged;
  std::int64_t number = 0;
  while (read(ends[0], &number, sizeof number) == sizeof number) {
    acknowledged.insert(number);
    if (acknowledged.size() == after) kill(child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  return acknowledged;
}

TEST(Crash, EveryAcknowledgedWriteSurvivesAKill) {
  for (const std::size_t after : {1, 100, 3000}) {
    testing::ScratchDirectory directory;
    const auto options = testing::TestDatabase::options(directory);
    const auto acknowledged = run_and_kill(options, after);
    EXPECT_GE(acknowledged.size(), after);

    Loop loop;
    Database database(loop, options);
    auto& connection = database.start_connection();
    const auto numbers = testing::numbers(connection);
    const std::set<std::int64_t> kept(numbers.begin(), numbers.end());
    for (const auto number : acknowledged) EXPECT_TRUE(kept.contains(number)) << number << " was lost";
    auto row = connection.prepare("PRAGMA integrity_check");
    ASSERT_TRUE(row.step());
    EXPECT_EQ(row.text(0), "ok");
  }
}

}  // namespace
}  // namespace agw
