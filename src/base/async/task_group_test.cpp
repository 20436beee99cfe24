#include "base/async/task_group.hpp"

#include <gtest/gtest.h>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/cancellation.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;

Task<> wait(std::chrono::milliseconds time, bool* finished) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
  *finished = true;
}

Task<> fail(const char* message) {
  throw std::runtime_error(message);
  co_return;
}

TEST(TaskGroup, JoinsSpawnedTasks) {
  bool finished = false;
  testing::run([&](Loop& loop) -> Task<> {
    TaskGroup group(loop);
    group.spawn(wait(1ms, &finished));
    co_await group.join();
  });
  EXPECT_TRUE(finished);
}

TEST(TaskGroup, CancelEndsWaitingChildrenWithoutAnError) {
  bool finished = false;
  testing::run([&](Loop& loop) -> Task<> {
    TaskGroup group(loop);
    group.spawn(wait(1h, &finished));
    asio::steady_timer turn(loop, 1ms);
    co_await turn.async_wait(asio::use_awaitable);
    group.cancel();
    co_await group.join();
  });
  EXPECT_FALSE(finished);
}

TEST(TaskGroup, JoinThrowsAChildsFailure) {
  testing::run([&](Loop& loop) -> Task<> {
    TaskGroup group(loop);
    group.spawn(fail("broken"));
    std::string caught;
    try {
      co_await group.join();
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    EXPECT_EQ(caught, "broken");
  });
}

TEST(WithTimeout, ReturnsDoneWhenTheLeafEnds) {
  testing::run([](Loop&) -> Task<> {
    StopSource stop;
    bool finished = false;
    EXPECT_EQ(co_await with_timeout(stop, no_limit, wait(1ms, &finished)), WaitResult::done);
    EXPECT_TRUE(finished);
  });
}

TEST(WithTimeout, ReturnsTimedOutAndTheTrunkGoesOn) {
  testing::run([](Loop&) -> Task<> {
    StopSource stop;
    bool finished = false;
    EXPECT_EQ(co_await with_timeout(stop, 5ms, wait(1h, &finished)), WaitResult::timed_out);
    EXPECT_EQ(co_await with_timeout(stop, no_limit, wait(1ms, &finished)), WaitResult::done);
    EXPECT_TRUE(finished);
  });
}

TEST(WithTimeout, ReturnsStoppedWhenStopIsRequestedDuringOrBefore) {
  testing::run([](Loop& loop) -> Task<> {
    StopSource stop;
    bool finished = false;
    asio::steady_timer later(loop, 2ms);
    later.async_wait([&](boost::system::error_code) { stop.request(); });
    EXPECT_EQ(co_await with_timeout(stop, no_limit, wait(1h, &finished)), WaitResult::stopped);
    EXPECT_EQ(co_await with_timeout(stop, no_limit, wait(1h, &finished)), WaitResult::stopped);
    EXPECT_FALSE(finished);
  });
}

TEST(WithTimeout, PassesOnTheLeafsOwnFailure) {
  testing::run([](Loop&) -> Task<> {
    StopSource stop;
    std::string caught;
    try {
      co_await with_timeout(stop, 1h, fail("leaf"));
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    EXPECT_EQ(caught, "leaf");
  });
}

TEST(WithTimeout, PassesTheCallersCancellationToTheLeaf) {
  testing::run([](Loop& loop) -> Task<> {
    TaskGroup group(loop);
    StopSource stop;
    bool finished = false;
    std::optional<WaitResult> end;
    group.spawn([](StopSource& s, bool* f, std::optional<WaitResult>* e) -> Task<> {
      *e = co_await with_timeout(s, no_limit, wait(1h, f));
    }(stop, &finished, &end));
    asio::steady_timer turn(loop, 1ms);
    co_await turn.async_wait(asio::use_awaitable);
    group.cancel();
    co_await group.join();
    EXPECT_FALSE(finished);
    EXPECT_EQ(end, WaitResult::stopped);
  });
}

}  // namespace
}  // namespace agw
