#include "features/knowledge/page_ranking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

TEST(PageRanking, CountsFewMatchesExactly) { EXPECT_EQ(approximate_matches(199, 5000, {5000, 5000}), 199); }

TEST(PageRanking, ExtrapolatesManyMatchesFromTheirDensity) {
  EXPECT_EQ(approximate_matches(200, 1000, {10000, 10000}), 2000);
  EXPECT_EQ(approximate_matches(200, 10000, {10000, 10000}), 200);
}

TEST(PageRanking, NeverExtrapolatesToMoreMatchesThanPages) {
  EXPECT_EQ(approximate_matches(200, 200, {300, 10000}), 300);
}

TEST(PageRanking, WeighsARareTermMoreThanACommonOne) {
  EXPECT_GT(rarity(1, 100), rarity(50, 100));
  EXPECT_GT(rarity(100, 100), 0);
}

TEST(PageRanking, PutsTheOlderOfEquallyGoodPagesFirst) {
  EXPECT_THAT(best_pages({{3, 0.5}, {2, 0.9}, {1, 0.5}, {4, 0.1}}, 3),
              ElementsAre(Field(&RankedPage::number, 2), Field(&RankedPage::number, 1), Field(&RankedPage::number, 3)));
}

}  // namespace
}  // namespace agw
