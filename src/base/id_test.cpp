#include "base/id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::Ge;
using ::testing::Le;
using ::testing::Optional;

TEST(Id, IsAUuidOfVersion7) {
  const auto id = new_id();
  EXPECT_TRUE(is_uuid(id));
  EXPECT_EQ(id[14], '7');
  EXPECT_NE(id, new_id());
  EXPECT_FALSE(is_uuid("not-a-uuid"));
}

TEST(Id, ContainsItsTimeOfCreation) {
  const auto before = SystemClock().now();
  const auto id = new_id();
  EXPECT_THAT(time_of_id(id), Optional(Ge(before)));
  EXPECT_THAT(time_of_id(id), Optional(Le(SystemClock().now())));
}

TEST(Id, OfTheStandardsExampleHasItsTime) {
  // RFC 9562, appendix A.6: Tuesday, February 22, 2022 2:22:22.00 PM GMT-05:00.
  EXPECT_EQ(time_of_id("017F22E2-79B0-7CC3-98C4-DC0C0C07398F"), parse_iso8601("2022-02-22T19:22:22Z"));
}

TEST(Id, OfAnotherKindHasNoTime) {
  EXPECT_EQ(time_of_id("919108f7-52d1-4320-9bac-f847db4148a8"), std::nullopt);
  EXPECT_EQ(time_of_id("daily-backup"), std::nullopt);
}

}  // namespace
}  // namespace agw
