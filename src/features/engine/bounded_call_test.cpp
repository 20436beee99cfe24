#include <gtest/gtest.h>

#include "features/engine/call_runner.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;

struct Called {
  ToolOutcome outcome;
  std::chrono::milliseconds took{};
};

/// Calls a tool that performs `action`, and stops the run after `stop_after`, if given. Time that `waits` counts does
/// not count towards `limit`.
Called call(std::function<Task<ToolOutcome>(const ToolCall&)> action, std::chrono::milliseconds limit,
            std::optional<std::chrono::milliseconds> stop_after = {}, const WaitClock& waits = {}) {
  Called called;
  testing::run([&](Loop& loop) -> Task<> {
    Tool tool;
    tool.description.name = "Test";
    tool.limit = limit;
    tool.call = std::move(action);
    const ToolRun run{};
    StopSource run_stop;
    StopSource stop;
    const ToolCall made{.id = "one", .input = {}, .run = run, .stop = stop, .authorize = {}, .stage = {}};
    asio::steady_timer timer(loop);
    if (stop_after) {
      timer.expires_after(*stop_after);
      timer.async_wait([&](boost::system::error_code error) {
        if (!error) run_stop.request();
      });
    }
    const auto began = std::chrono::steady_clock::now();
    called.outcome = co_await bounded_call(loop, tool, made, run_stop, waits);
    called.took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  });
  return called;
}

Task<ToolOutcome> answers(const ToolCall&) { co_return ToolOutcome{"done"}; }

Task<ToolOutcome> listens(const ToolCall& call) {
  co_await pause(call.stop, 1h);
  co_return ToolOutcome{"not read"};
}

/// Ignores its stop.
Task<ToolOutcome> ignores_stop(const ToolCall&) {
  asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
  co_await timer.async_wait(asio::use_awaitable);
  co_return ToolOutcome{"not read"};
}

Task<ToolOutcome> throws(const ToolCall&) {
  throw std::runtime_error("broken");
  co_return ToolOutcome{};
}

TEST(BoundedCall, ReturnsTheResult) {
  const auto called = call(answers, 1h);
  EXPECT_EQ(called.outcome.output, "done");
  EXPECT_FALSE(called.outcome.is_error);
}

TEST(BoundedCall, EndsAtTheLimit) {
  const auto called = call(listens, 50ms);
  EXPECT_EQ(called.outcome.output, "timed out after 0.05 s");
  EXPECT_TRUE(called.outcome.is_error);
  EXPECT_LT(called.took, 1min);
}

TEST(BoundedCall, EndsWhenTheRunIsStopped) {
  const auto called = call(listens, 1h, 20ms);
  EXPECT_EQ(called.outcome.output, "interrupted: the run was stopped");
  EXPECT_TRUE(called.outcome.is_error);
  EXPECT_LT(called.took, 1min);
}

TEST(BoundedCall, ExcludesTheTimeOfWaitingForAPerson) {
  WaitClock waits;
  const auto asks = [&waits](const ToolCall& made) -> Task<ToolOutcome> {
    {
      const WaitClock::Wait wait(waits);
      co_await pause(made.stop, 600ms);
    }
    co_return co_await answers(made);
  };
  EXPECT_EQ(call(asks, 400ms, {}, waits).outcome.output, "done");
  const auto dawdles = [&waits](const ToolCall& made) -> Task<ToolOutcome> {
    {
      const WaitClock::Wait wait(waits);
      co_await pause(made.stop, 600ms);
    }
    co_return co_await listens(made);
  };
  const auto called = call(dawdles, 50ms, {}, waits);
  EXPECT_EQ(called.outcome.output, "timed out after 0.05 s");
  EXPECT_GE(called.took, 600ms);
}

TEST(BoundedCall, CancelsAToolThatIgnoresItsStop) {
  for (const auto stop_after :
       {std::optional<std::chrono::milliseconds>(20ms), std::optional<std::chrono::milliseconds>()}) {
    const auto called = call(ignores_stop, stop_after ? 1h : 20ms, stop_after);
    EXPECT_TRUE(called.outcome.is_error);
    EXPECT_LT(called.took, 1min);
  }
}

TEST(BoundedCall, ThrowsWhatTheToolThrows) { EXPECT_THROW(call(throws, 1h), std::runtime_error); }

}  // namespace
}  // namespace agw
