#include <gtest/gtest.h>

#include "cli/output/table.hpp"

namespace agw::cli {
namespace {

TEST(Sparkline, ShowsValuesBesideEachOther) { EXPECT_EQ(sparkline({0, 50, 100, 25}), "▁▅█▃"); }

TEST(Sparkline, IsFlatWhereNothingTookAnyTime) { EXPECT_EQ(sparkline({0, 0}), "▁▁"); }

TEST(Sparkline, IsEmptyWithoutValues) { EXPECT_EQ(sparkline({}), ""); }

}  // namespace
}  // namespace agw::cli
