#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include <gtest/gtest.h>

#include "io/files/descriptor.hpp"
#include "io/process/spawn.hpp"
#include "io/sandbox/sandbox.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;

constexpr int life = 4;  ///< the descriptor through which a sandbox detects the end of its gateway
constexpr int time_to_end_ms = 15'000;

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reading = Descriptor(ends[0]);
    writing = Descriptor(ends[1]);
  }
  Descriptor reading;
  Descriptor writing;
};

/// Starts a gateway that starts a sandboxed command, and kills the gateway after this time.
void kill_gateway_after(std::chrono::microseconds moment, const SpawnOptions& plan, Descriptor held_life) {
  Pipe began;
  const auto gateway = ::fork();
  if (gateway == 0) {
    const auto spawned = spawn(plan);
    [[maybe_unused]] const auto written = ::write(began.writing.get(), "!", 1);
    for (;;) ::pause();
  }
  began.writing = Descriptor();
  held_life = Descriptor();
  char sign = 0;
  ASSERT_EQ(::read(began.reading.get(), &sign, 1), 1);
  const auto killed = std::chrono::steady_clock::now() + moment;
  while (std::chrono::steady_clock::now() < killed) continue;
  ::kill(gateway, SIGKILL);
  ::waitpid(gateway, nullptr, 0);
}

bool is_locked(const std::filesystem::path& file) {
  const Descriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  return ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0;
}

TEST(SandboxKill, LeavesNoCommandOfAHalfMadeOne) {
  const testing::ScratchDirectory scratch;
  const auto home = scratch.path() / "home";
  const auto project = home / "site";
  std::filesystem::create_directories(project);
  const Sandbox sandbox({.home = home, .data_directory = home / ".agent-gateway"});
  if (const auto problem = sandbox.problem()) GTEST_SKIP() << *problem;
  const Descriptor nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  for (int moment = 0; moment < 100; ++moment) {
    Pipe output;
    Pipe of_life;
    const auto options =
        sandbox.wrap({"flock", "running", "sleep", "1000"}, {.directory = project, .writable = {project}});
    SpawnOptions plan{.program = "/usr/bin/bwrap",
                      .arguments = options.arguments,
                      .environment = options.environment,
                      .directory = "/",
                      .descriptors = {{output.writing.get(), STDOUT_FILENO},
                                      {nothing.get(), STDERR_FILENO},
                                      {of_life.reading.get(), life}},
                      .die_with_parent = options.die_with_parent};
    for (const auto& [descriptor, number] : options.descriptors) {
      if (number != life) plan.descriptors.emplace_back(descriptor->get(), number);
    }
    kill_gateway_after(moment * 50us, plan, std::move(of_life.writing));
    output.writing = Descriptor();
    // The output ends when the last process closes it. If the kernel kills bubblewrap between two of its system calls,
    // its other process may wait forever for the signal to start; it runs nothing.
    pollfd waiting{.fd = output.reading.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, time_to_end_ms) == 1) continue;
    ASSERT_FALSE(is_locked(project / "running")) << "the command goes on, killed after " << moment * 50 << " us";
  }
}

}  // namespace
}  // namespace agw
