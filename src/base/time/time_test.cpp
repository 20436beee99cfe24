#include "base/time/time.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string read_time(std::string_view text) {
  const auto time = parse_iso8601(text);
  return time ? to_iso8601(*time) : "refused";
}

TEST(Time, ReadsDatesAndDateTimes) {
  EXPECT_EQ(read_time("2026-01-02"), "2026-01-02T00:00:00.000Z");
  EXPECT_EQ(read_time("2026-01-02T03:04"), "2026-01-02T03:04:00.000Z");
  EXPECT_EQ(read_time("2026-01-02T03:04:05"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(read_time("2026-01-02T03:04:05.678Z"), "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(read_time("2026-01-02T03:04:05.6789123Z"), "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(read_time("2026-01-02T03:04:05.6+02:00"), "2026-01-02T01:04:05.600Z");
  EXPECT_EQ(read_time("2026-01-02T03:04:05-0530"), "2026-01-02T08:34:05.000Z");
  EXPECT_EQ(read_time("2024-02-29"), "2024-02-29T00:00:00.000Z");
  EXPECT_EQ(read_time("2026-01-02T24:00"), "2026-01-03T00:00:00.000Z");
  EXPECT_EQ(read_time("2016-12-31T23:59:60Z"), "2017-01-01T00:00:00.000Z");
}

TEST(Time, WritesDistantTimes) {
  EXPECT_EQ(read_time("1969-12-31T23:59:59.999Z"), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(read_time("0001-01-01"), "0001-01-01T00:00:00.000Z");
  EXPECT_EQ(read_time("9999-12-31T23:59:59.999Z"), "9999-12-31T23:59:59.999Z");

  std::string list = "from ";
  append_iso8601(list, *parse_iso8601("2026-01-02T03:04:05.060Z"));
  EXPECT_EQ(list, "from 2026-01-02T03:04:05.060Z");
}

TEST(Time, HaveYearsOfFourDigits) {
  EXPECT_EQ(read_time("9999-12-31T23:59:59.001-01:00"), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(read_time("9999-12-31T24:00"), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(read_time("9999-W52-7"), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(read_time("0000-01-01"), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(read_time("0000-01-01T00:00+23:59"), "0000-01-01T00:00:00.000Z");
}

TEST(Time, ReadsTheBasicFormat) {
  EXPECT_EQ(read_time("20260102"), "2026-01-02T00:00:00.000Z");
  EXPECT_EQ(read_time("20260102T030405Z"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(read_time("20260102T030405.678+0200"), "2026-01-02T01:04:05.678Z");
  EXPECT_EQ(read_time("2026-01-02T03"), "2026-01-02T03:00:00.000Z");
  EXPECT_EQ(read_time("2026-01-02T03Z"), "2026-01-02T03:00:00.000Z");
}

TEST(Time, ReadsDaysOfWeeksAndYears) {
  EXPECT_EQ(read_time("2026-W01-5"), "2026-01-02T00:00:00.000Z");
  EXPECT_EQ(read_time("2026W015T03:04"), "2026-01-02T03:04:00.000Z");
  EXPECT_EQ(read_time("2020-W53-7"), "2021-01-03T00:00:00.000Z");
  EXPECT_EQ(read_time("2026-W01-1"), "2025-12-29T00:00:00.000Z");
  EXPECT_EQ(read_time("2026-002"), "2026-01-02T00:00:00.000Z");
  EXPECT_EQ(read_time("2024366"), "2024-12-31T00:00:00.000Z");
}

TEST(Time, ReadsAFractionOfTheLastPart) {
  EXPECT_EQ(read_time("2026-01-02T03.5Z"), "2026-01-02T03:30:00.000Z");
  EXPECT_EQ(read_time("2026-01-02T03:04,25+01:00"), "2026-01-02T02:04:15.000Z");
  EXPECT_EQ(read_time("20260102T0304.5"), "2026-01-02T03:04:30.000Z");
  EXPECT_EQ(read_time("2026-01-02T03.0000005"), "2026-01-02T03:00:00.001Z");
  EXPECT_EQ(read_time("2026-01-02T03.99999999999999999999999999"), "2026-01-02T03:59:59.999Z");
  EXPECT_EQ(read_time("2026-01-02T23:59:60.5Z"), "2026-01-03T00:00:00.500Z");
  EXPECT_EQ(read_time("2026-01-02T24.0"), "2026-01-03T00:00:00.000Z");
}

TEST(Time, RefusesInvalidTimes) {
  for (const auto* text : {"",
                           "soon",
                           "2026",
                           "2026-13-01",
                           "2026-02-29",
                           "2026-01-02T",
                           "2026-01-02T25:00",
                           "2026-01-02T03:04:61",
                           "2026-01-02T03:04:05.Z",
                           "2026-01-02T03.",
                           "2026-01-02T03.5:04",
                           "2026-01-02.5",
                           "2026-01-02T24.1",
                           "2026-01-02T03:04:05+",
                           "2026-01-02x",
                           "2026-01-02T03:04:05Zx",
                           "-026-01-02",
                           "2026-1-2",
                           "1767323045",
                           "2026-366",
                           "2026-000",
                           "2026-W54-1",
                           "2026-W53-8",
                           "2025-W53-1",
                           "2026-0102",
                           "202601-02",
                           "2026-W01",
                           "2026-01-02T24:01",
                           "2026-01-02T03:04:60",
                           "2026-01-02T0304:05",
                           "2026-01-02T03:0405"}) {
    EXPECT_EQ(read_time(text), "refused") << text;
  }
}

}  // namespace
}  // namespace agw
