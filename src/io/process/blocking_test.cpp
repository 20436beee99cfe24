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

TEST(BlockingPoolTest, WhatWorkOwnsIsDestroyedOnTheOtherThread) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool pool(loop);
    std::thread::id destroyed_in;
    const auto note = [&destroyed_in](const int* number) {
      destroyed_in = std::this_thread::get_id();
      delete number;
    };
    std::shared_ptr<const int> owned(new int(7), note);
    const auto there = co_await pool.run([owned = std::move(owned)] { return std::this_thread::get_id(); });
    EXPECT_EQ(destroyed_in, there);
  });
}

TEST(BlockingPoolTest, OnlyLongWorkLeavesTheLoop) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool pool(loop);
    const auto here = std::this_thread::get_id();
    EXPECT_EQ(co_await pool.run_if(false, [] { return std::this_thread::get_id(); }), here);
    EXPECT_NE(co_await pool.run_if(true, [] { return std::this_thread::get_id(); }), here);
  });
}

Task<> use_own_text_in(BlockingPool& pool, std::promise<void>& begun, std::shared_future<void> released,
                       std::size_t& length) {
  std::string text(1000, 'x');
  co_await pool.run([&] {
    begun.set_value();
    released.wait();
    length = text.size();
  });
}

TEST(BlockingPoolTest, ACancelledCallerResumesWhenItsWorkHasEnded) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool pool(loop, 2);
    TaskGroup group(loop);
    std::promise<void> begun;
    std::promise<void> released;
    std::size_t length = 0;
    group.spawn(use_own_text_in(pool, begun, released.get_future().share(), length));
    co_await pool.run([&] { begun.get_future().wait(); });
    group.cancel();
    auto releasing = pool.start([&] {
      released.set_value();
      return true;
    });
    co_await group.join();
    EXPECT_EQ(length, 1000);
    EXPECT_TRUE(co_await releasing.result());
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
