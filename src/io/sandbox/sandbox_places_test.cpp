#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "io/files/descriptor.hpp"
#include "io/sandbox/sandbox.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

std::filesystem::path place(const std::filesystem::path& home, int number) {
  auto made = home / "read" / std::to_string(number);
  std::filesystem::create_directories(made);
  return made;
}

TEST(SandboxPlaces, AreSeenAsManyAsCanBeNamed) {
  const testing::ScratchDirectory home;
  const Sandbox sandbox({.home = home.path(), .data_directory = home.path() / "data"});
  if (const auto problem = sandbox.problem()) GTEST_SKIP() << *problem;
  std::filesystem::create_directories(home.path() / "data");
  const auto project = place(home.path(), 0);
  SandboxSpec spec{.directory = project, .writable = {project}};
  for (int number = 1; number < 189; ++number) spec.readable.push_back(place(home.path(), number));
  testing::run([&](Loop& loop) -> Task<> {
    StopSource stop;
    const auto options = sandbox.wrap({"/bin/bash", "-c", "ls ~/read | wc -l"}, spec);
    EXPECT_EQ((co_await run_process(loop, options, {}, {}, stop)).output, "189\n");
  });
  spec.readable.push_back(place(home.path(), 189));
  EXPECT_THROW(sandbox.wrap({"/bin/bash", "-c", "true"}, spec), ProcessError);
}

TEST(SandboxWithUnixSockets, ReachesNoneOfTheHost) {
  const testing::ScratchDirectory home;
  const Sandbox sandbox({.home = home.path(), .data_directory = home.path() / "data"});
  if (const auto problem = sandbox.problem()) GTEST_SKIP() << *problem;
  std::filesystem::create_directories(home.path() / "data");
  const auto project = place(home.path(), 0);
  const SandboxSpec spec{.directory = project, .writable = {project}, .unix_sockets = true};
  const auto name = "agw-test-" + std::to_string(::getpid());
  const Descriptor server(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{.sun_family = AF_UNIX};
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(sizeof(sa_family_t) + 1 + name.size());
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(server.get(), 1), 0);
  testing::run([&](Loop& loop) -> Task<> {
    StopSource stop;
    for (const auto& [code, exit_code] :
         std::map<std::string, int>{{"s.socketpair(s.AF_UNIX, s.SOCK_DGRAM); s.socket(s.AF_UNIX).bind('/tmp/own')", 0},
                                    {"s.socket(s.AF_UNIX).connect('\\0" + name + "')", 1},
                                    {"s.socket(s.AF_VSOCK)", 1}}) {
      const auto options = sandbox.wrap({"/usr/bin/python3", "-c", "import socket as s; " + code}, spec);
      const auto result = co_await run_process(loop, options, {}, {}, stop);
      EXPECT_EQ(result.end.exit_code, exit_code) << code << result.output;
    }
  });
}

}  // namespace
}  // namespace agw
