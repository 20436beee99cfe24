#include "features/signals/alerts.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::vector<DayCost> days(std::vector<double> costs) {
  std::vector<DayCost> all;
  for (const auto cost : costs) all.push_back({"2026-01-02", cost});
  return all;
}

TEST(SpikeLimit, IsThreeTimesTheMedianOfTheDaysBeforeToday) {
  EXPECT_DOUBLE_EQ(spike_limit(days({1, 2, 6, 100})), 6);
  EXPECT_DOUBLE_EQ(spike_limit(days({2, 4, 100})), 9);
}

TEST(SpikeLimit, LooksAtFourteenDays) {
  std::vector<double> costs(30, 50);
  std::fill(costs.begin() + 15, costs.end(), 2);
  EXPECT_DOUBLE_EQ(spike_limit(days(costs)), 6);
}

TEST(UsualCost, IsTheMedianOfTheDaysBeforeToday) {
  EXPECT_DOUBLE_EQ(usual_cost(days({1, 2, 6, 100})), 2);
  EXPECT_DOUBLE_EQ(usual_cost(days({5})), 0);
}

TEST(SpikeLimit, IsNeverBelowOneDollar) {
  EXPECT_DOUBLE_EQ(spike_limit(days({0.01, 0.02, 5})), 1);
  EXPECT_DOUBLE_EQ(spike_limit(days({5})), 1);
  EXPECT_DOUBLE_EQ(spike_limit({}), 1);
}

}  // namespace
}  // namespace agw
