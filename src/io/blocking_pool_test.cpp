#include "io/blocking_pool.hpp"

#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "testing/run.hpp"

namespace agw {
namespace {

TEST(BlockingPool, RunsElsewhereAndResumesOnTheLoop) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool pool(loop);
    const auto here = std::this_thread::get_id();
    const auto there = co_await pool.run([] { return std::this_thread::get_id(); });
    EXPECT_NE(there, here);
    EXPECT_EQ(std::this_thread::get_id(), here);
  });
}

TEST(BlockingPool, HandsOverWhatTheClosureThrows) {
  testing::run([](Loop& loop) -> Task<> {
    BlockingPool pool(loop);
    std::string what;
    try {
      co_await pool.run([] { throw std::runtime_error("no"); });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what, "no");
    EXPECT_EQ(co_await pool.run([] { return 7; }), 7);
  });
}

}  // namespace
}  // namespace agw
