#include <sys/mount.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "tools/files/testing.hpp"

namespace agw {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_file;
using ::testing::StartsWith;
using testing::write_file;

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class BashTool : public ::testing::Test {
protected:
  void SetUp() override {
    if (const auto problem = fixture_.sandbox.problem()) GTEST_SKIP() << *problem;
  }
  std::string bash(const std::string& command, json::object more = {}) {
    more["command"] = command;
    return fixture_.call("Bash", std::move(more));
  }

  testing::ToolsFixture fixture_;
};

TEST_F(BashTool, RunsInTheProjectAndReportsTheExitCode) {
  EXPECT_EQ(bash("pwd; echo new > made.txt"), fixture_.project.string() + "\nexit code 0");
  EXPECT_EQ(read_file(fixture_.project / "made.txt"), "new\n");
  EXPECT_EQ(bash("echo no >&2; exit 3"), "error: no\nexit code 3");
  EXPECT_EQ(bash("printf 'caf\\xe9'"), "caf\uFFFD\nexit code 0");
}

TEST_F(BashTool, WithoutAProjectItRunsInTheWorkspace) {
  fixture_.roots.project.reset();
  EXPECT_EQ(bash("pwd; touch a"), fixture_.workspace.string() + "\nexit code 0");
  EXPECT_TRUE(fs::exists(fixture_.workspace / "a"));
}

TEST_F(BashTool, SeesTheAgentsOwnFilesButCannotChangeThem) {
  const auto soul = (fixture_.data / "agents/helper/soul.md").string();
  EXPECT_EQ(bash("cat " + soul), "kind\nexit code 0");
  EXPECT_THAT(bash("echo evil > " + soul), EndsWith("exit code 1"));
  EXPECT_EQ(read_file(soul), "kind");
  EXPECT_THAT(bash("touch " + fixture_.workspace.string() + "/fine"), EndsWith("exit code 0"));
}

TEST_F(BashTool, ProcessesWithoutEndEndIt) {
  const auto text = bash(
      "/usr/bin/python3 -c 'import os, time\n"
      "try:\n"
      "  while os.fork(): pass\n"
      "  time.sleep(600)\n"
      "except OSError: print(\"refused\")'",
      {{"timeout_s", 120}});
  if (::geteuid() == 0) {
    EXPECT_THAT(text, HasSubstr("was ended because the host had 2000 more processes than when it began"));
  } else {
    EXPECT_THAT(text, HasSubstr("refused"));
  }
}

TEST_F(BashTool, FindsNoSecretAnywhere) {
  ::setenv("ANTHROPIC_API_KEY", "secret", 1);
  write_file(fixture_.project / "deep/server.key", "secret");
  EXPECT_THAT(bash("env; grep -rs secret ~ /proc/*/environ /tmp /run " + fixture_.data.string() +
                   " --exclude-dir=usr; cat deep/server.key"),
              Not(HasSubstr("secret\n")));
}

TEST_F(BashTool, AFloodIsCutInTheMiddle) {
  const auto output = bash("echo first; yes | head -c 100M; echo last");
  EXPECT_LT(output.size(), 100'200u);
  EXPECT_THAT(output, StartsWith("first\ny\n"));
  EXPECT_THAT(output, HasSubstr(" bytes cut …]"));
  EXPECT_THAT(output, EndsWith("last\nexit code 0"));
}

TEST_F(BashTool, EndsACommandThatTakesTooLong) {
  EXPECT_THAT(bash("trap '' TERM; echo begun; sleep 1000 & sleep 1000", {{"timeout_s", 3}}),
              ::testing::AllOf(StartsWith("error: begun\n"), HasSubstr("timed out after 3 s")));
}

TEST_F(BashTool, TheAgentsOwnLimitsCanOnlyTighten) {
  fixture_.limits = {.network = true, .timeout = 1s};
  EXPECT_THAT(bash("sleep 1000", {{"timeout_s", 600}}), HasSubstr("timed out after 1 s"));
  fixture_.limits = {.network = true, .memory_mb = 100};
  EXPECT_THAT(bash("/usr/bin/python3 -c 'bytearray(300_000_000)'"), HasSubstr("MemoryError"));
  fixture_.limits = {.memory_mb = 100'000};
  EXPECT_THAT(bash("ulimit -d"), StartsWith("2097152\n"));
  fixture_.limits = {.network = false};
  fixture_.authorize_read = [](const ToolTarget&) { return Permission{.network = true}; };
  EXPECT_THAT(bash("ls /sys/class/net 2>/dev/null; cat /proc/net/dev | wc -l"), StartsWith("3\n"))
      << "two lines of a heading, and the loopback of its own";
}

TEST_F(BashTool, EndsACommandThatFillsTheDisk) {
  const auto disk = fixture_.project / "disk";
  fs::create_directory(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=16m") != 0) GTEST_SKIP() << "only root makes a disk for a test";
  fixture_.roots.project = disk;
  EXPECT_THAT(bash("head -c 12M /dev/zero > large; sleep 1000"), HasSubstr("half of the space"));
  ::umount2(disk.c_str(), MNT_DETACH);
}

TEST_F(BashTool, RefusesWhereItMayNot) {
  fixture_.authorize_read = [](const ToolTarget&) { return testing::ToolsFixture::denied(); };
  EXPECT_EQ(bash("touch made"), "error: permission denied: ask a person");
  EXPECT_FALSE(fs::exists(fixture_.project / "made"));
}

TEST_F(BashTool, ACommandWithANulIsAnErrorAndNotRunInPart) {
  EXPECT_THAT(bash(std::string("touch made\0; echo", 17)),
              HasSubstr("command: not a possible command, because it holds a NUL character"));
  EXPECT_FALSE(fs::exists(fixture_.project / "made"));
}

TEST_F(BashTool, ACommandLongerThanTheKernelTakesIsAnError) {
  EXPECT_THAT(bash("echo " + std::string(200'000, 'x')), HasSubstr("too long"));
}

TEST(ShellLimits, AreReadFromAnAgentsDefinition) {
  const auto limits = [](std::string_view text) { return shell_limits(parse_json(text)->get_object()); };
  EXPECT_TRUE(limits("{}").network);
  EXPECT_FALSE(limits(R"({"sandbox": {"network": false}})").network);
  EXPECT_EQ(limits(R"({"sandbox": {"memory_mb": 512, "timeout_s": 5}})").memory_mb, 512);
  EXPECT_EQ(limits(R"({"sandbox": {"memory_mb": 512, "timeout_s": 5}})").timeout, 5s);
  EXPECT_EQ(limits(R"({"sandbox": {"timeout_s": 0.5}})").timeout, 500ms);
  EXPECT_EQ(limits(R"({"sandbox": {"timeout_s": 1e-9}})").timeout, 1ms);
  EXPECT_EQ(limits(R"({"sandbox": {"timeout_s": 1e300}})").timeout, Shell::max_time);
  EXPECT_EQ(limits(R"({"sandbox": {"timeout_s": -1}})").timeout, std::nullopt);
  EXPECT_EQ(limits(R"({"sandbox": {"memory_mb": -1, "timeout_s": "x"}})").memory_mb, std::nullopt);
}

TEST_F(BashTool, VariablesAndInputAreNotReadAsCommands) {
  testing::run([&](Loop& loop) -> Task<> {
    BlockingPool blocking(loop);
    Shell shell(loop, blocking, fixture_.sandbox, [](std::string_view) { return ShellLimits{}; });
    const ToolRun tool_run{.agent_name = "helper", .roots = fixture_.roots};
    const ToolCall call{.run = tool_run,
                        .stop = fixture_.stop,
                        .authorize = [](const ToolTarget&) { return Permission{}; },
                        .stage = {}};
    const std::string value = "$(touch evil); `touch evil`; touch evil #'\"\\";
    const auto outcome =
        co_await shell.run(call, {.command = "echo \"$TEXT\"; cat", .environment = {{"TEXT", value}}, .input = value});
    EXPECT_EQ(outcome.output, value + "\n" + value + "\nexit code 0");
  });
  EXPECT_FALSE(fs::exists(fixture_.project / "evil"));
}

/// Notes which commands have ended.
class CommandRecorder : public FileRecorder {
public:
  int begun = 0;
  int ended = 0;

  std::size_t max_file_size() const override { return 1 << 20; }
  Task<> before_write(const ToolRun&, PlannedWrite) override { co_return; }
  Task<> after_write(std::shared_ptr<const EntryState>, std::shared_ptr<const void>) override { co_return; }
  Task<std::shared_ptr<CommandListing>> before_command(const ToolRun&, std::vector<fs::path>) override {
    ++begun;
    co_return nullptr;
  }
  Task<> after_command(const ToolRun&, std::shared_ptr<CommandListing>) override {
    ++ended;
    co_return;
  }
  Task<> record_uncovered(const ToolRun&, std::string, std::string) override { co_return; }
  Task<> record_hosts(const ToolRun&, std::vector<ContactedHost>) override { co_return; }
};

Task<> request_once_there(StopSource& stop, fs::path file) {
  StopSource never;
  while (!fs::exists(file)) co_await pause(never, 5ms);
  stop.request();
}

TEST_F(BashTool, ACommandThatIsCancelledIsEndedAndRecorded) {
  testing::run([&](Loop& loop) -> Task<> {
    BlockingPool blocking(loop);
    CommandRecorder recorder;
    Shell shell(loop, blocking, fixture_.sandbox, [](std::string_view) { return ShellLimits{}; }, &recorder);
    const ToolRun tool_run{.agent_name = "helper", .roots = fixture_.roots};
    const ToolCall call{.run = tool_run,
                        .stop = fixture_.stop,
                        .authorize = [](const ToolTarget&) { return Permission{}; },
                        .stage = {}};
    StopSource cancelled;
    TaskGroup waiting(loop);
    waiting.spawn(request_once_there(cancelled, fixture_.project / "begun"));
    const auto run = [&]() -> Task<> { co_await shell.run(call, {.command = "touch begun; sleep 1000"}); };
    EXPECT_EQ(co_await with_timeout(cancelled, no_limit, run()), WaitResult::stopped);
    co_await waiting.join();
    EXPECT_EQ(recorder.begun, 1);
    EXPECT_EQ(recorder.ended, 1);
  });
}

}  // namespace
}  // namespace agw
