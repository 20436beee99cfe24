#include "io/process/blocking.hpp"

#include <future>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

TEST(BlockingPoolTest, WorkRunsOnAnotherThreadAndItsResultComesBackToTheLoop) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool pool(loop);
    const auto here = std::this_thread::get_id();
    const auto there = co_await pool.run([] { return std::this_thread::get_id(); });
    EXPECT_NE(there, here);
    EXPECT_EQ(std::this_thread::get_id(), here);
  });
}

TEST(BlockingPoolTest, ExceptionsReachTheCaller) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool pool(loop);
    std::string caught;
    try {
      co_await pool.run([] { throw std::runtime_error("no such file"); });
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    EXPECT_EQ(caught, "no such file");
  });
}

Task<> wait_in(BlockingPool& pool, std::shared_future<void> released, bool& done) {
  co_await pool.run([released] { released.wait(); });
  done = true;
}

TEST(BlockingPoolTest, TheLoopAndTheOtherThreadsGoOnWhileWorkBlocks) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool pool(loop, 2);
    TaskGroup group(loop);
    std::promise<void> promise;
    bool done = false;
    group.spawn(wait_in(pool, promise.get_future().share(), done));
    EXPECT_EQ(co_await pool.run([] { return 7; }), 7);
    EXPECT_FALSE(done);
    promise.set_value();
    co_await group.join();
    EXPECT_TRUE(done);
  });
}

TEST(BlockingPoolTest, StartedWorkRunsConcurrentlyWithItsCaller) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool pool(loop, 2);
    std::promise<int> promise;
    auto started = pool.start([asked = promise.get_future().share()] { return asked.get(); });
    co_await pool.run([&] { promise.set_value(7); });
    EXPECT_EQ(co_await started.result(), 7);
  });
}

TEST(BlockingPoolTest, ExceptionsOfStartedWorkReachTheCallerThatReadsItsResult) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool pool(loop);
    auto failing = pool.start([]() -> int { throw std::runtime_error("no such file"); });
    auto forgotten = pool.start([]() -> int { throw std::runtime_error("nobody asks"); });
    std::string caught;
    try {
      co_await failing.result();
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    EXPECT_EQ(caught, "no such file");
    EXPECT_EQ(co_await pool.run([] { return 7; }), 7);
  });
}

}  // namespace
}  // namespace agw
