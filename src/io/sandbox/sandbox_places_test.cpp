#include <filesystem>
#include <string>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace agw
