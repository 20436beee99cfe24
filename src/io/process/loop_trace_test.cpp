#include "io/process/loop_trace.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "testing/cpu_time.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void compute_for(std::chrono::milliseconds duration) {
  const auto end = testing::cpu_time() + duration;
  while (testing::cpu_time() < end) continue;
}

std::vector<LongCallback> trace(Loop& loop, std::chrono::microseconds limit) {
  std::vector<LongCallback> found;
  run_traced(loop, limit, [&found](const LongCallback& callback) { found.push_back(callback); });
  return found;
}

TEST(LoopTrace, ReportsACallbackThatHoldsTheLoop) {
  Loop loop;
  asio::post(loop, [] { compute_for(200ms); });
  const auto found = trace(loop, 100ms);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_GE(found[0].duration, 200ms);
  EXPECT_GT(found[0].computed, 0ms);
  EXPECT_LE(found[0].computed, found[0].duration);
  EXPECT_THAT(found[0].calls, HasSubstr("unit_tests+0x"));
}

TEST(LoopTrace, ReportsACallbackThatTheLoopHadToWaitFor) {
  Loop loop;
  asio::steady_timer timer(loop, 1ms);
  timer.async_wait([](const auto&) { compute_for(200ms); });
  EXPECT_THAT(trace(loop, 100ms), SizeIs(1));
}

TEST(LoopTrace, WaitingHoldsNothing) {
  Loop loop;
  asio::steady_timer timer(loop, 600ms);
  timer.async_wait([](const auto&) {});
  EXPECT_THAT(trace(loop, 500ms), IsEmpty());
}

}  // namespace
}  // namespace agw
