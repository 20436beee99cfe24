#include "io/process/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "io/process/process_setup.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::run;
using ::testing::StartsWith;

ProcessOptions shell(const std::string& command) {
  return {.arguments = {"sh", "-c", command}, .environment = {"PATH=/usr/bin:/bin"}, .directory = "/tmp"};
}

class ProcessTest : public ::testing::Test {
protected:
  /// Runs a process to its end with the limits.
  static ProcessResult result_of(ProcessOptions options, ProcessLimits limits = {}, std::string input = {}) {
    ProcessResult result;
    run([&](Loop& loop) -> Task<> {
      StopSource stop;
      result = co_await run_process(loop, std::move(options), std::move(input), limits, stop);
    });
    return result;
  }

  static bool is_alive(pid_t id) {
    std::ifstream status("/proc/" + std::to_string(id) + "/stat");
    std::string number;
    std::string name;
    std::string state;
    return status >> number >> name >> state && state != "Z" && state != "X";
  }

  /// Waits for the end of a process, because its output ends slightly earlier.
  static bool ends_soon(pid_t id) {
    const auto deadline = std::chrono::steady_clock::now() + 1min;
    while (is_alive(id) && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
    return !is_alive(id);
  }
};

TEST_F(ProcessTest, ReportsOutputAndExitStatus) {
  const auto result = result_of(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(result.end.exit_code, 3);
  EXPECT_EQ(result.end.signal, 0);
  EXPECT_EQ(result_of(shell("kill -9 $$")).end.exit_code, 137);
}

TEST_F(ProcessTest, InheritsNothingFromTheGateway) {
  ::setenv("ANTHROPIC_API_KEY", "sk-secret", 1);
  const int leaked = ::open("/etc/passwd", O_RDONLY);
  auto options = shell("env; ls /proc/self/fd; cat /proc/self/status | grep SigIgn; pwd; tty");
  options.environment.emplace_back("ONLY=this");
  const auto output = result_of(options).output;
  ::close(leaked);
  EXPECT_THAT(output, HasSubstr("ONLY=this"));
  EXPECT_THAT(output, ::testing::Not(HasSubstr("sk-secret")));
  EXPECT_THAT(output, HasSubstr("\n0\n1\n2\n3\n")) << "3 is that of ls itself";
  EXPECT_THAT(output, ::testing::Not(HasSubstr("\n4\n")));
  EXPECT_THAT(output, HasSubstr("SigIgn:\t0000000000000000")) << "SIGPIPE ends it as anywhere else";
  EXPECT_THAT(output, HasSubstr("/tmp\n"));
  EXPECT_THAT(output, HasSubstr("not a tty"));
}

TEST_F(ProcessTest, HasTheLimitOfOpenFilesThatTheGatewayWasStartedWith) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit low{limit.rlim_max / 2, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(raise_file_limit(), limit.rlim_max);
  EXPECT_EQ(result_of(shell("ulimit -n")).output, std::to_string(low.rlim_cur) + "\n");
}

TEST_F(ProcessTest, ReadsItsInput) {
  EXPECT_EQ(result_of(shell("cat"), {}, "hello").output, "hello");
  const std::string much(1'000'000, 'x');
  EXPECT_EQ(result_of(shell("wc -c"), {}, much).output, "1000000\n");
  EXPECT_EQ(result_of(shell("true"), {}, much).end.exit_code, 0) << "nobody reads it";
}

TEST_F(ProcessTest, GivesDescriptorsUnderTheirNumbers) {
  auto options = shell("cat <&7; cat <&3");
  for (const auto& [text, number] : {std::pair("seven", 7), std::pair("three", 3)}) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(::write(ends[1], text, 5), 5);
    ::close(ends[1]);
    options.descriptors.emplace_back(std::make_shared<Descriptor>(ends[0]), number);
  }
  EXPECT_EQ(result_of(options).output, "seventhree");
}

TEST_F(ProcessTest, SaysWhyItCannotStart) {
  EXPECT_THROW(result_of({.arguments = {"/no/such/program"}}), ProcessError);
  EXPECT_THROW(result_of({.arguments = {"true"}, .directory = "/no/such/directory"}), ProcessError);
  EXPECT_THROW(result_of({.arguments = {"/etc/passwd"}}), ProcessError);
  const std::string with_nul("one\0two", 7);
  EXPECT_THROW(result_of({.arguments = {"echo", with_nul}}), ProcessError);
  EXPECT_THROW(result_of({.arguments = {"true"}, .environment = {"NAME=" + with_nul}, .directory = "/"}), ProcessError);
}

TEST_F(ProcessTest, AGigabyteOfOutputFillsNoMemory) {
  const auto result = result_of(shell("yes | head -c 1G"), {.output = 1000});
  EXPECT_LT(result.output.size(), 1200u);
  EXPECT_THAT(result.output, StartsWith("y\ny\n"));
  EXPECT_THAT(result.output, HasSubstr("1073740824 bytes cut"));
  EXPECT_THAT(result.output, EndsWith("y\ny\n"));
}

TEST_F(ProcessTest, OutputWaitsUntilItIsRead) {
  run([](Loop& loop) -> Task<> {
    Process process(loop, shell("yes"));
    const auto first = co_await process.read();
    EXPECT_LE(first.size(), 65536u);
    process.signal(SIGKILL);
    EXPECT_EQ((co_await process.wait()).signal, SIGKILL);
    std::size_t rest = 0;
    for (;;) {
      const auto bytes = co_await process.read();
      if (bytes.empty()) break;
      rest += bytes.size();
    }
    EXPECT_LE(rest, 1'100'000u) << "more than a pipe holds";
  });
}

TEST_F(ProcessTest, RemainingProcessesAreKilledAtTheDeadline) {
  const auto started = std::chrono::steady_clock::now();
  const auto result = result_of(shell("trap '' TERM; echo begun; sleep 1000 & while :; do sleep 1; done"),
                                {.time = 2s, .grace = 100ms});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.end.signal, SIGKILL);
  EXPECT_EQ(result.output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - started, 1min);
}

TEST_F(ProcessTest, ACommandCanCleanUpBeforeItEnds) {
  const auto result =
      result_of(shell("trap 'echo goodbye; exit 5' TERM; while :; do sleep 0.01; done"), {.time = 2s, .grace = 1min});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.end.exit_code, 5);
  EXPECT_THAT(result.output, HasSubstr("goodbye"));
}

TEST_F(ProcessTest, StopEndsTheWholeGroup) {
  run([](Loop& loop) -> Task<> {
    StopSource stop;
    const testing::ScratchDirectory scratch;
    const auto started = scratch.path() / "started";
    TaskGroup waiting(loop);
    waiting.spawn([](StopSource& to_request, std::filesystem::path file) -> Task<> {
      while (!std::filesystem::exists(file)) co_await pause(to_request, 10ms);
      to_request.request();
    }(stop, started));
    auto group = shell("sh -c 'sleep 1000' & echo $!; touch " + started.string() + "; wait");
    const auto result = co_await run_process(loop, std::move(group), {}, ProcessLimits{}, stop);
    co_await waiting.join();
    EXPECT_TRUE(result.stopped);
    EXPECT_TRUE(ends_soon(std::stoi(result.output)));
  });
}

TEST_F(ProcessTest, AProcessThatIgnoresSigtermIsKilledSoonOnceHurried) {
  run([](Loop& loop) -> Task<> {
    const auto started = std::chrono::steady_clock::now();
    StopSource stop;
    StopSource hurry;
    asio::steady_timer timer(loop, 200ms);
    timer.async_wait([&](auto) { hurry.request(); });
    stop.request();
    auto deaf = shell("exec sleep 1000");
    deaf.ignored_signals = {SIGTERM};
    const auto result = co_await run_process(loop, std::move(deaf), {}, {.grace = 10min, .hurry = &hurry}, stop);
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.end.signal, SIGKILL);
    EXPECT_LT(std::chrono::steady_clock::now() - started, 2min);
  });
}

TEST_F(ProcessTest, WhatACommandLeavesBehindEndsWithIt) {
  const auto result = result_of(shell("sleep 1000 & echo $!"), {.time = 1min});
  EXPECT_FALSE(result.timed_out);
  EXPECT_TRUE(ends_soon(std::stoi(result.output)));
}

TEST_F(ProcessTest, ADaemonThatKeepsTheOutputOpenDelaysNothing) {
  const auto started = std::chrono::steady_clock::now();
  const auto result = result_of(shell("setsid sleep 100 & echo done"), {.time = 90s});
  EXPECT_THAT(result.output, HasSubstr("done"));
  EXPECT_FALSE(result.timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - started, 1min);
}

TEST_F(ProcessTest, EndsWithItsOwner) {
  run([](Loop& loop) -> Task<> {
    pid_t id = 0;
    {
      Process process(loop, shell("sleep 1000"));
      id = process.id();
      EXPECT_TRUE(is_alive(id));
    }
    while (is_alive(id)) co_await asio::steady_timer(loop, 1ms).async_wait(asio::use_awaitable);
  });
}

Task<> has_ended(Process& process, ProcessExit& end) { end = co_await process.wait(); }

/// Asio can deliver an event to a descriptor that was meant for one closed in the same turn of the loop.
TEST_F(ProcessTest, HasNotEndedForWhatWasHeardOfAnotherDescriptor) {
  run([](Loop& loop) -> Task<> {
    std::array<int, 2> one{};
    std::array<int, 2> other{};
    EXPECT_EQ(::pipe(one.data()) + ::pipe(other.data()), 0);
    asio::posix::stream_descriptor first(loop, one[0]);
    asio::posix::stream_descriptor second(loop, other[0]);
    std::unique_ptr<Process> process;
    // Both are ready: the first handler closes the other descriptor, and the process reuses its place.
    const auto closes = [&](asio::posix::stream_descriptor& closed) {
      return [&](boost::system::error_code) {
        if (process) return;
        closed.close();
        process = std::make_unique<Process>(loop, shell("exec sleep 1000"));
      };
    };
    first.async_wait(asio::posix::stream_descriptor::wait_read, closes(second));
    second.async_wait(asio::posix::stream_descriptor::wait_read, closes(first));
    ::close(one[1]);
    ::close(other[1]);
    while (!process) co_await asio::steady_timer(loop, 1ms).async_wait(asio::use_awaitable);
    StopSource never;
    ProcessExit end;
    EXPECT_EQ(co_await with_timeout(never, 50ms, has_ended(*process, end)), WaitResult::timed_out);
    process->signal(SIGKILL);
    EXPECT_EQ((co_await process->wait()).signal, SIGKILL);
  });
}

TEST_F(ProcessTest, EndGivesItTime) {
  run([](Loop& loop) -> Task<> {
    Process process(loop, shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done"));
    EXPECT_EQ(co_await process.read(), "ready\n");
    EXPECT_EQ((co_await process.end(1min)).exit_code, 7);
    Process deaf(loop, shell("trap '' TERM; echo ready; while :; do sleep 0.01; done"));
    EXPECT_EQ(co_await deaf.read(), "ready\n");
    EXPECT_EQ((co_await deaf.end(50ms)).signal, SIGKILL);
  });
}

TEST_F(ProcessTest, HasItsTimeBesideThatOfAPerson) {
  run([](Loop& loop) -> Task<> {
    StopSource stop;
    WaitClock waits;
    auto asking = std::make_optional<WaitClock::Wait>(waits);
    TaskGroup person(loop);
    person.spawn([](StopSource& never, std::optional<WaitClock::Wait>& question) -> Task<> {
      co_await pause(never, 1500ms);
      question.reset();
    }(stop, asking));
    const auto slow = co_await run_process(loop, shell("sleep 1.6"), {}, {.time = 1s, .waits = &waits}, stop);
    EXPECT_FALSE(slow.timed_out) << "1,500 ms of it were the person's";
    co_await person.join();
    const auto late = co_await run_process(loop, shell("sleep 60"), {}, {.time = 50ms, .waits = &waits}, stop);
    EXPECT_TRUE(late.timed_out);
  });
}

TEST_F(ProcessTest, SeparatesErrorsAndCommunicatesBothWays) {
  run([](Loop& loop) -> Task<> {
    auto options = shell("read line; echo got $line; echo oops >&2; cat");
    options.separate_stderr = true;
    Process process(loop, options);
    EXPECT_TRUE(co_await process.write("hello\n"));
    EXPECT_EQ(co_await process.read(), "got hello\n");
    EXPECT_EQ(co_await process.read(ProcessStream::error), "oops\n");
    process.close_input();
    EXPECT_EQ(co_await process.read(), "");
    EXPECT_EQ((co_await process.wait()).exit_code, 0);
    EXPECT_FALSE(co_await process.write("too late"));
  });
}

TEST_F(ProcessTest, KeepsNoDescriptors) {
  const auto open = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  run([&](Loop& loop) -> Task<> {
    StopSource stop;
    co_await run_process(loop, shell("true"), "input", {}, stop);
    const auto before = open();
    for (int i = 0; i < 20; ++i) co_await run_process(loop, shell("true"), "input", {}, stop);
    EXPECT_EQ(open(), before);
  });
}

}  // namespace
}  // namespace agw
