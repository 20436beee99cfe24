#include "io/process/idle_memory.hpp"

#include <gtest/gtest.h>

namespace agw {

using namespace std::chrono_literals;

TEST(IdlePeriods, FollowWorkOnce) {
  IdlePeriods periods;
  EXPECT_FALSE(periods.begins(200ms)) << "it has just worked";
  EXPECT_TRUE(periods.begins(201ms));
  EXPECT_FALSE(periods.begins(202ms)) << "nothing was done since";
  EXPECT_TRUE(periods.is_idle());
  EXPECT_FALSE(periods.begins(230ms)) << "it works again";
  EXPECT_FALSE(periods.is_idle());
  EXPECT_TRUE(periods.begins(231ms));
}

TEST(IdlePeriods, BeginAfterAQuickStart) {
  IdlePeriods periods;
  EXPECT_FALSE(periods.begins(9ms)) << "it has just started";
  EXPECT_TRUE(periods.begins(10ms));
  EXPECT_FALSE(periods.begins(11ms));
}

TEST(IdlePeriods, DoNotBeginByWhatTimersUse) {
  IdlePeriods periods;
  EXPECT_FALSE(periods.begins(100ms));
  EXPECT_TRUE(periods.begins(101ms));
  for (auto used = 102ms; used < 120ms; used += 1ms) EXPECT_FALSE(periods.begins(used));
}

}  // namespace agw
