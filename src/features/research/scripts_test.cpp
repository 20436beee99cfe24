#include "features/research/scripts.hpp"

#include <chrono>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class ScriptsTest : public ::testing::Test {
protected:
  ScriptsTest() {
    fs::create_directories(home_ / "lab");
    fs::create_directories(home_ / ".agent-gateway");
    write("lab/asset.md", "text");
  }

  void SetUp() override {
    if (const auto problem = sandbox_.problem()) GTEST_SKIP() << *problem;
  }

  void write(const std::string& name, const std::string& text) const { std::ofstream(home_ / name) << text; }

  struct Ran {
    ScriptEnd end;
    std::string output;
    std::chrono::milliseconds took{};
  };
  Ran ran(const std::string& name, std::chrono::milliseconds limit = 1min, bool stops = false,
          const std::string& project = "") const {
    Ran ran;
    const auto began = std::chrono::steady_clock::now();
    testing::run([&](Loop& loop) -> Task<> {
      BlockingPool blocking(loop);
      Scripts scripts(loop, blocking, sandbox_, home_, home_ / ".agent-gateway");
      StopSource stop;
      if (stops) stop.request();
      ran.end = co_await scripts.run(
          {.path = home_ / name,
           .asset = home_ / "lab/asset.md",
           .project = project.empty() ? "" : home_ / project,
           .limit = limit},
          [&](std::string_view bytes) { ran.output += bytes; }, stop);
    });
    ran.took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
    return ran;
  }

  testing::ScratchDirectory scratch_;
  const fs::path home_ = scratch_.path();
  Sandbox sandbox_{{.home = home_, .data_directory = home_ / ".agent-gateway"}};
};

TEST_F(ScriptsTest, GetThePathOfTheFileThatTheyEvaluate) {
  write("lab/benchmark.sh", "echo \"$1 $ASSET_PATH\"; cat \"$1\"");
  const auto asset = (home_ / "lab/asset.md").string();
  const auto found = ran("lab/benchmark.sh");
  EXPECT_TRUE(found.end.succeeded) << found.end.problem;
  EXPECT_EQ(found.output, asset + " " + asset + "\ntext");
}

TEST_F(ScriptsTest, OneThatHangsIsEnded) {
  write("lab/benchmark.sh", "trap '' TERM; echo begun; sleep 600 & while :; do sleep 1; done");
  const auto found = ran("lab/benchmark.sh", 500ms);
  EXPECT_FALSE(found.end.succeeded);
  EXPECT_THAT(found.end.problem, HasSubstr("it took longer than"));
  EXPECT_LT(found.took, 1min);
}

TEST_F(ScriptsTest, OneWithEndlessOutputIsEnded) {
  write("lab/benchmark.sh", "exec yes");
  EXPECT_THAT(ran("lab/benchmark.sh", 500ms).end.problem, HasSubstr("it took longer than"));
}

TEST_F(ScriptsTest, AStopEndsThem) {
  write("lab/benchmark.sh", "sleep 600");
  const auto found = ran("lab/benchmark.sh", 2min, true);
  EXPECT_TRUE(found.end.stopped);
  EXPECT_LT(found.took, 1min);
}

TEST_F(ScriptsTest, AFailureIsReportedWithTheEndOfTheOutput) {
  write("lab/benchmark.sh", "echo first; echo last words >&2; exit 7");
  const auto found = ran("lab/benchmark.sh");
  EXPECT_THAT(found.end.problem, HasSubstr("exit status 7"));
  EXPECT_THAT(found.end.problem, HasSubstr("last words"));
}

TEST_F(ScriptsTest, AFailedStartIsReported) {
  EXPECT_THAT(ran("lab/nothing.sh").end.problem, HasSubstr("there is no"));
  EXPECT_THAT(ran("lab").end.problem, HasSubstr("there is no"));
}

TEST_F(ScriptsTest, OneInHomeItselfSeesNoOtherFile) {
  write("diary.txt", "secret");
  write("benchmark.sh", "cat \"$(dirname \"$0\")/diary.txt\" && exit 1; exit 0");
  const auto found = ran("benchmark.sh");
  EXPECT_TRUE(found.end.succeeded) << found.end.problem;
}

TEST_F(ScriptsTest, CannotChangeTheAssetThatTheyEvaluate) {
  write("lab/benchmark.sh", "echo better > \"$1\" && exit 1; exit 0");
  EXPECT_TRUE(ran("lab/benchmark.sh").end.succeeded);
}

TEST_F(ScriptsTest, CannotChangeTheAssetThatTheyEvaluateInAProjectEither) {
  write("lab/benchmark.sh",
        "echo better > \"$1\" && exit 1; echo better > new; mv new \"$1\" && exit 1; rm \"$1\" && exit 1; echo x > "
        "other");
  const auto found = ran("lab/benchmark.sh", 1min, false, "lab");
  EXPECT_TRUE(found.end.succeeded) << found.end.problem;
  EXPECT_TRUE(fs::exists(home_ / "lab/other"));
  EXPECT_EQ(fs::file_size(home_ / "lab/asset.md"), 4u);
}

TEST(ScriptsMayWriteTheAsset, WithoutASandbox) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool blocking(loop);
    const Sandbox sandbox({.home = "/home/ann", .data_directory = "/home/ann/.agent-gateway"});
    const Sandbox none({.enabled = false, .home = "/home/ann", .data_directory = "/home/ann/.agent-gateway"});
    EXPECT_FALSE(Scripts(loop, blocking, sandbox, "/home/ann", "/home/ann/.agent-gateway").may_write_asset());
    EXPECT_TRUE(Scripts(loop, blocking, none, "/home/ann", "/home/ann/.agent-gateway").may_write_asset());
    co_return;
  });
}

}  // namespace
}  // namespace agw
