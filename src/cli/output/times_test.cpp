#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

#include "cli/output/table.hpp"

namespace agw::cli {
namespace {

TEST(Times, ShowsALocalTimeToTheMinute) {
  ::setenv("TZ", "UTC-2", 1);
  ::tzset();
  EXPECT_EQ(local_time("2026-01-02T23:04:05.678Z"), "2026-01-03 01:04");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(Times, KeepsOtherTexts) { EXPECT_EQ(local_time("so\x1bon"), "so\\x1bon"); }

TEST(Times, ShowsTheTwoGreatestPartsOfADuration) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(59.9), "59 s");
  EXPECT_EQ(duration_text(125), "2 min 5 s");
  EXPECT_EQ(duration_text(3600 * 3 + 120), "3 h 2 min");
  EXPECT_EQ(duration_text(86400 * 4 + 3600 * 3), "4 d 3 h");
}

}  // namespace
}  // namespace agw::cli
