#include <gtest/gtest.h>

#include "base/time/time_zone.hpp"

namespace agw {
namespace {

std::string day_at(std::string_view time, std::string_view zone) {
  return to_iso8601(local_day(*parse_iso8601(time), *TimeZone::named(zone)));
}

TEST(LocalDay, ChangesAtTheZonesMidnight) {
  EXPECT_EQ(day_at("2026-01-02T22:59:59.999Z", "Europe/Berlin"), "2026-01-02");
  EXPECT_EQ(day_at("2026-01-02T23:00:00Z", "Europe/Berlin"), "2026-01-03");
  EXPECT_EQ(day_at("2026-01-02T04:59:59Z", "America/New_York"), "2026-01-01");
  EXPECT_EQ(day_at("2026-01-02T05:00:00Z", "America/New_York"), "2026-01-02");
}

TEST(LocalDay, FollowsTheClocksOfSummer) {
  EXPECT_EQ(day_at("2026-07-01T21:59:59Z", "Europe/Berlin"), "2026-07-01");
  EXPECT_EQ(day_at("2026-07-01T22:00:00Z", "Europe/Berlin"), "2026-07-02");
}

TEST(LocalDay, IsRightBeforeTheEpoch) { EXPECT_EQ(day_at("1969-12-31T23:59:59.999Z", "UTC"), "1969-12-31"); }

}  // namespace
}  // namespace agw
