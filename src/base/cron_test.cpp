#include "base/cron.hpp"

#include <sstream>

#include <gtest/gtest.h>

namespace agw {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const auto end = std::min(line.find(" | ", begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 3;
  }
  return cells;
}

std::string next(const Cron& cron, Timestamp after, const TimeZone& zone) {
  const auto found = cron.next(after, zone);
  return found ? to_iso8601(*found) : "never";
}

/// Compares the implementation with lines of `expression | zone | start (exclusive) | next | next …`.
void expect_vectors(const std::string& lines) {
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    const auto cells = split(line);
    const Cron cron(cells[0]);
    const auto zone = TimeZone::named(cells[1]);
    ASSERT_TRUE(zone) << cells[1];
    auto after = *parse_iso8601(cells[2]);
    for (std::size_t i = 3; i < cells.size(); ++i) {
      const auto expected = *parse_iso8601(cells[i]);
      EXPECT_EQ(next(cron, after, *zone), to_iso8601(expected)) << line;
      after = expected;
    }
  }
}

std::string cron_error(const std::string& expression) {
  try {
    Cron{expression};
  } catch (const CronError& failure) {
    return failure.what();
  }
  return "none";
}

TEST(Cron, IgnoresSurroundingBlanks) {
  EXPECT_EQ(cron_error("0 0 * * *\n"), "none");
  EXPECT_EQ(cron_error(" \t0 0 \t * * *\r\n"), "none");
  EXPECT_EQ(cron_error(" @daily\n"), "none");
  EXPECT_NE(cron_error("0 0\n* * *"), "none");
}

TEST(Cron, FindsTheTimesThatOtherImplementationsFind) {
  expect_vectors(R"(
* * * * * | UTC | 2026-01-01T00:00:00Z | 2026-01-01T00:01:00Z | 2026-01-01T00:02:00Z | 2026-01-01T00:03:00Z
*/5 * * * * | UTC | 2026-01-01T00:02:30Z | 2026-01-01T00:05:00Z | 2026-01-01T00:10:00Z | 2026-01-01T00:15:00Z
*/15 * * * * | Asia/Kolkata | 2026-01-01T00:00:01Z | 2026-01-01T00:15:00Z | 2026-01-01T00:30:00Z | 2026-01-01T00:45:00Z
7-59/10 * * * * | UTC | 2026-03-01T11:50:00Z | 2026-03-01T11:57:00Z | 2026-03-01T12:07:00Z | 2026-03-01T12:17:00Z
*/7 * * * * | UTC | 2026-03-01T11:50:00Z | 2026-03-01T11:56:00Z | 2026-03-01T12:00:00Z | 2026-03-01T12:07:00Z
0,30 8-10 * * * | UTC | 2026-03-01T10:00:00Z | 2026-03-01T10:30:00Z | 2026-03-02T08:00:00Z | 2026-03-02T08:30:00Z
5,10,20-22 3 * * * | UTC | 2026-03-01T03:10:00Z | 2026-03-01T03:20:00Z | 2026-03-01T03:21:00Z | 2026-03-01T03:22:00Z
0 0 * * * | UTC | 2026-12-31T00:00:00Z | 2027-01-01T00:00:00Z | 2027-01-02T00:00:00Z | 2027-01-03T00:00:00Z
30 9 * * MON-FRI | America/New_York | 2026-01-02T15:00:00Z | 2026-01-05T14:30:00Z | 2026-01-06T14:30:00Z | 2026-01-07T14:30:00Z
30 9 * * mon,wed,fri | Europe/London | 2026-06-01T09:00:00Z | 2026-06-03T08:30:00Z | 2026-06-05T08:30:00Z | 2026-06-08T08:30:00Z
0 12 * * 1-5/2 | UTC | 2026-02-01T00:00:00Z | 2026-02-02T12:00:00Z | 2026-02-04T12:00:00Z | 2026-02-06T12:00:00Z
0 12 * * 0 | UTC | 2026-02-01T12:00:00Z | 2026-02-08T12:00:00Z | 2026-02-15T12:00:00Z | 2026-02-22T12:00:00Z
0 12 * * 5-7 | UTC | 2026-02-01T12:00:00Z | 2026-02-06T12:00:00Z | 2026-02-07T12:00:00Z | 2026-02-08T12:00:00Z
0 12 * * SUN | Asia/Tokyo | 2026-02-01T03:00:00Z | 2026-02-08T03:00:00Z | 2026-02-15T03:00:00Z | 2026-02-22T03:00:00Z
0 0 1 JAN * | UTC | 2026-01-01T00:00:00Z | 2027-01-01T00:00:00Z | 2028-01-01T00:00:00Z | 2029-01-01T00:00:00Z
0 0 1 jan,jul * | UTC | 2026-01-01T00:00:00Z | 2026-07-01T00:00:00Z | 2027-01-01T00:00:00Z | 2027-07-01T00:00:00Z
0 0 31 * * | UTC | 2026-01-31T00:00:00Z | 2026-03-31T00:00:00Z | 2026-05-31T00:00:00Z | 2026-07-31T00:00:00Z
0 0 29 2 * | UTC | 2026-01-31T00:00:00Z | 2028-02-29T00:00:00Z | 2032-02-29T00:00:00Z | 2036-02-29T00:00:00Z
0 0 29 2 * | UTC | 2096-03-01T00:00:00Z | 2104-02-29T00:00:00Z | 2108-02-29T00:00:00Z | 2112-02-29T00:00:00Z
0 0 13 * FRI | UTC | 2026-02-01T00:00:00Z | 2026-02-06T00:00:00Z | 2026-02-13T00:00:00Z | 2026-02-20T00:00:00Z
0 0 1,15 * 3 | UTC | 2026-04-01T00:00:00Z | 2026-04-08T00:00:00Z | 2026-04-15T00:00:00Z | 2026-04-22T00:00:00Z
0 0 */2 * 1 | UTC | 2026-04-01T00:00:00Z | 2026-04-03T00:00:00Z | 2026-04-05T00:00:00Z | 2026-04-06T00:00:00Z
0 0 1-31 * 1 | UTC | 2026-04-01T00:00:00Z | 2026-04-02T00:00:00Z | 2026-04-03T00:00:00Z | 2026-04-04T00:00:00Z
0 0 1 * 0-6 | UTC | 2026-04-01T00:00:00Z | 2026-04-02T00:00:00Z | 2026-04-03T00:00:00Z | 2026-04-04T00:00:00Z
0 0 ? * MON | UTC | 2026-04-01T00:00:00Z | 2026-04-06T00:00:00Z | 2026-04-13T00:00:00Z | 2026-04-20T00:00:00Z
0 0 15 * ? | UTC | 2026-04-01T00:00:00Z | 2026-04-15T00:00:00Z | 2026-05-15T00:00:00Z | 2026-06-15T00:00:00Z
0 0 L * * | UTC | 2026-01-15T00:00:00Z | 2026-01-31T00:00:00Z | 2026-02-28T00:00:00Z | 2026-03-31T00:00:00Z
0 0 L 2 * | UTC | 2027-01-15T00:00:00Z | 2027-02-28T00:00:00Z | 2028-02-29T00:00:00Z | 2029-02-28T00:00:00Z
0 18 L * * | America/Los_Angeles | 2026-02-28T00:00:00Z | 2026-03-01T02:00:00Z | 2026-04-01T01:00:00Z | 2026-05-01T01:00:00Z
0 0 * * 5L | UTC | 2026-01-01T00:00:00Z | 2026-01-30T00:00:00Z | 2026-02-27T00:00:00Z | 2026-03-27T00:00:00Z
0 0 * * FRIL | UTC | 2026-01-01T00:00:00Z | 2026-01-30T00:00:00Z | 2026-02-27T00:00:00Z | 2026-03-27T00:00:00Z
0 0 * * 1#1 | UTC | 2026-01-01T00:00:00Z | 2026-01-05T00:00:00Z | 2026-02-02T00:00:00Z | 2026-03-02T00:00:00Z
0 9 * * 2#2 | America/New_York | 2026-02-20T00:00:00Z | 2026-03-10T13:00:00Z | 2026-04-14T13:00:00Z | 2026-05-12T13:00:00Z
0 0 * * 5#5 | UTC | 2026-01-01T00:00:00Z | 2026-01-30T00:00:00Z | 2026-05-29T00:00:00Z | 2026-07-31T00:00:00Z
0 0 * * 0#1 | UTC | 2026-01-01T00:00:00Z | 2026-01-04T00:00:00Z | 2026-02-01T00:00:00Z | 2026-03-01T00:00:00Z
0 0 * * 7#1 | UTC | 2026-01-01T00:00:00Z | 2026-01-04T00:00:00Z | 2026-02-01T00:00:00Z | 2026-03-01T00:00:00Z
*/10 * * * * * | UTC | 2026-01-01T00:00:05Z | 2026-01-01T00:00:10Z | 2026-01-01T00:00:20Z | 2026-01-01T00:00:30Z
15,45 * * * * * | UTC | 2026-01-01T00:00:45Z | 2026-01-01T00:01:15Z | 2026-01-01T00:01:45Z | 2026-01-01T00:02:15Z
0 */20 9-17 * * MON-FRI | Europe/Berlin | 2026-05-01T15:30:00Z | 2026-05-01T15:40:00Z | 2026-05-04T07:00:00Z | 2026-05-04T07:20:00Z
30 0 0 1 1 * | UTC | 2026-01-01T00:00:30Z | 2027-01-01T00:00:30Z | 2028-01-01T00:00:30Z | 2029-01-01T00:00:30Z
@hourly | UTC | 2026-01-01T00:00:00Z | 2026-01-01T01:00:00Z | 2026-01-01T02:00:00Z | 2026-01-01T03:00:00Z
@daily | America/Sao_Paulo | 2026-01-01T00:00:00Z | 2026-01-01T03:00:00Z | 2026-01-02T03:00:00Z | 2026-01-03T03:00:00Z
@weekly | UTC | 2026-01-01T00:00:00Z | 2026-01-04T00:00:00Z | 2026-01-11T00:00:00Z | 2026-01-18T00:00:00Z
@monthly | UTC | 2026-01-15T00:00:00Z | 2026-02-01T00:00:00Z | 2026-03-01T00:00:00Z | 2026-04-01T00:00:00Z
@yearly | UTC | 2026-01-15T00:00:00Z | 2027-01-01T00:00:00Z | 2028-01-01T00:00:00Z | 2029-01-01T00:00:00Z
0 0 * * * | Asia/Kathmandu | 2026-01-01T00:00:00Z | 2026-01-01T18:15:00Z | 2026-01-02T18:15:00Z | 2026-01-03T18:15:00Z
0 0 * * * | Pacific/Auckland | 2026-07-01T00:00:00Z | 2026-07-01T12:00:00Z | 2026-07-02T12:00:00Z | 2026-07-03T12:00:00Z
0 23 * * * | Pacific/Pago_Pago | 2026-07-01T00:00:00Z | 2026-07-01T10:00:00Z | 2026-07-02T10:00:00Z | 2026-07-03T10:00:00Z
0 2 * * * | America/New_York | 2026-03-07T12:00:00Z | 2026-03-08T07:00:00Z | 2026-03-09T06:00:00Z | 2026-03-10T06:00:00Z
*/30 * * * * | America/New_York | 2026-03-08T06:20:00Z | 2026-03-08T06:30:00Z | 2026-03-08T07:00:00Z | 2026-03-08T07:30:00Z
0 * * * * | America/New_York | 2026-03-08T05:30:00Z | 2026-03-08T06:00:00Z | 2026-03-08T07:00:00Z | 2026-03-08T08:00:00Z
30 * * * * | America/New_York | 2026-03-08T05:45:00Z | 2026-03-08T06:30:00Z | 2026-03-08T07:30:00Z | 2026-03-08T08:30:00Z
30 1 * * * | America/New_York | 2026-10-31T12:00:00Z | 2026-11-01T05:30:00Z | 2026-11-02T06:30:00Z | 2026-11-03T06:30:00Z
0 1 * * * | America/New_York | 2026-10-31T12:00:00Z | 2026-11-01T05:00:00Z | 2026-11-02T06:00:00Z | 2026-11-03T06:00:00Z
0 2 * * * | America/New_York | 2026-10-31T12:00:00Z | 2026-11-01T07:00:00Z | 2026-11-02T07:00:00Z | 2026-11-03T07:00:00Z
30 2 * * * | Europe/Berlin | 2026-10-24T12:00:00Z | 2026-10-25T00:30:00Z | 2026-10-26T01:30:00Z | 2026-10-27T01:30:00Z
*/30 * * * * | America/New_York | 2026-11-01T05:10:00Z | 2026-11-01T05:30:00Z | 2026-11-01T06:00:00Z | 2026-11-01T06:30:00Z
0 * * * * | America/New_York | 2026-11-01T04:30:00Z | 2026-11-01T05:00:00Z | 2026-11-01T06:00:00Z | 2026-11-01T07:00:00Z
30 * * * * | America/New_York | 2026-11-01T05:00:00Z | 2026-11-01T05:30:00Z | 2026-11-01T06:30:00Z | 2026-11-01T07:30:00Z
30 1 * * * | America/New_York | 2026-11-01T05:45:00Z | 2026-11-02T06:30:00Z | 2026-11-03T06:30:00Z | 2026-11-04T06:30:00Z
0 * * * * | Australia/Lord_Howe | 2026-10-03T14:30:00Z | 2026-10-03T16:00:00Z | 2026-10-03T17:00:00Z | 2026-10-03T18:00:00Z
45 1 * * * | Australia/Lord_Howe | 2026-04-03T20:00:00Z | 2026-04-04T14:45:00Z | 2026-04-05T15:15:00Z | 2026-04-06T15:15:00Z
0 0 * * * | America/Havana | 2026-03-07T12:00:00Z | 2026-03-08T05:00:00Z | 2026-03-09T04:00:00Z | 2026-03-10T04:00:00Z
0 0 * * * | Africa/Cairo | 2026-04-23T12:00:00Z | 2026-04-23T22:00:00Z | 2026-04-24T21:00:00Z | 2026-04-25T21:00:00Z
0 0 * * * | Asia/Beirut | 2026-03-28T12:00:00Z | 2026-03-28T22:00:00Z | 2026-03-29T21:00:00Z | 2026-03-30T21:00:00Z
0 12 * * * | America/New_York | 2026-03-07T12:00:00Z | 2026-03-07T17:00:00Z | 2026-03-08T16:00:00Z | 2026-03-09T16:00:00Z
0 12 * * * | America/New_York | 2026-10-31T12:00:00Z | 2026-10-31T16:00:00Z | 2026-11-01T17:00:00Z | 2026-11-02T17:00:00Z
0 */6 * * * | America/New_York | 2026-03-08T04:30:00Z | 2026-03-08T05:00:00Z | 2026-03-08T10:00:00Z | 2026-03-08T16:00:00Z
0 */6 * * * | America/New_York | 2026-11-01T03:30:00Z | 2026-11-01T04:00:00Z | 2026-11-01T11:00:00Z | 2026-11-01T17:00:00Z
15 10 * * * | Asia/Shanghai | 2026-05-05T02:15:00Z | 2026-05-06T02:15:00Z | 2026-05-07T02:15:00Z | 2026-05-08T02:15:00Z
59 23 31 12 * | UTC | 2026-01-01T00:00:00Z | 2026-12-31T23:59:00Z | 2027-12-31T23:59:00Z | 2028-12-31T23:59:00Z
0 0 1 */3 * | UTC | 2026-02-01T00:00:00Z | 2026-04-01T00:00:00Z | 2026-07-01T00:00:00Z | 2026-10-01T00:00:00Z
0 0 1 2-12/3 * | UTC | 2026-02-01T00:00:00Z | 2026-05-01T00:00:00Z | 2026-08-01T00:00:00Z | 2026-11-01T00:00:00Z
0 22 * * 1-5 | Asia/Singapore | 2026-01-02T15:00:00Z | 2026-01-05T14:00:00Z | 2026-01-06T14:00:00Z | 2026-01-07T14:00:00Z
0 0 8-14 * 2 | UTC | 2026-01-01T00:00:00Z | 2026-01-06T00:00:00Z | 2026-01-08T00:00:00Z | 2026-01-09T00:00:00Z
0 0 1,L * * | UTC | 2026-01-15T00:00:00Z | 2026-01-31T00:00:00Z | 2026-02-01T00:00:00Z | 2026-02-28T00:00:00Z
0 0 L * 5 | UTC | 2026-01-15T00:00:00Z | 2026-01-16T00:00:00Z | 2026-01-23T00:00:00Z | 2026-01-30T00:00:00Z
)");
}

TEST(Cron, RunsOneTimeOfDayOnceAndOtherTimesByTheClock) {
  expect_vectors(R"(
30 2 * * * | America/New_York | 2026-03-07T12:00:00Z | 2026-03-08T07:00:00Z | 2026-03-09T06:30:00Z
30 2 * * * | Europe/Berlin | 2026-03-28T12:00:00Z | 2026-03-29T01:00:00Z | 2026-03-30T00:30:00Z
30 1 * * * | Europe/London | 2026-03-28T12:00:00Z | 2026-03-29T01:00:00Z | 2026-03-30T00:30:00Z
30 2 8 3 * | America/New_York | 2026-01-01T00:00:00Z | 2026-03-08T07:00:00Z | 2027-03-08T07:30:00Z
30 2 * * 0 | America/New_York | 2026-03-02T00:00:00Z | 2026-03-08T07:00:00Z | 2026-03-15T06:30:00Z
15 2 * * * | Australia/Lord_Howe | 2026-10-02T20:00:00Z | 2026-10-03T15:30:00Z | 2026-10-04T15:15:00Z
15 1 * * * | America/New_York | 2026-11-01T06:00:00Z | 2026-11-02T06:15:00Z | 2026-11-03T06:15:00Z
30 0 * * * | America/Havana | 2026-10-31T12:00:00Z | 2026-11-01T04:30:00Z | 2026-11-02T05:30:00Z
*/15 * * * * | Australia/Lord_Howe | 2026-04-04T14:40:00Z | 2026-04-04T14:45:00Z | 2026-04-04T15:00:00Z | 2026-04-04T15:15:00Z
*/30 2 * * * | America/New_York | 2026-03-07T12:00:00Z | 2026-03-09T06:00:00Z | 2026-03-09T06:30:00Z
30 1,2 * * * | America/New_York | 2026-03-08T05:00:00Z | 2026-03-08T06:30:00Z | 2026-03-09T05:30:00Z
30 1,2 * * * | America/New_York | 2026-11-01T04:30:00Z | 2026-11-01T05:30:00Z | 2026-11-01T06:30:00Z | 2026-11-01T07:30:00Z
*/30 1 * * * | America/New_York | 2026-11-01T04:30:00Z | 2026-11-01T05:00:00Z | 2026-11-01T05:30:00Z | 2026-11-01T06:00:00Z | 2026-11-01T06:30:00Z
0 */2 * * * | Europe/Paris | 2026-03-28T22:30:00Z | 2026-03-28T23:00:00Z | 2026-03-29T02:00:00Z | 2026-03-29T04:00:00Z
)");
}

TEST(Cron, KnowsDaysThatAreCountedFromTheEndOrByWeekday) {
  expect_vectors(R"(
0 0 LW * * | UTC | 2026-01-15 | 2026-01-30 | 2026-02-27 | 2026-03-31
0 0 15W * * | UTC | 2026-08-01 | 2026-08-14 | 2026-09-15 | 2026-10-15
0 0 1W * * | UTC | 2026-08-01 | 2026-08-03 | 2026-09-01 | 2026-10-01
0 0 31W * * | UTC | 2026-01-01 | 2026-01-30 | 2026-03-31 | 2026-05-29
0 0 29W 2 * | UTC | 2026-01-01 | 2028-02-29 | 2032-02-27 | 2036-02-29
0 0 * * FRI#L | UTC | 2026-01-01 | 2026-01-30 | 2026-02-27 | 2026-03-27
0 0 * * 5#L | UTC | 2026-01-01 | 2026-01-30 | 2026-02-27 | 2026-03-27
0 0 * * 5L | UTC | 2026-01-01 | 2026-01-30 | 2026-02-27 | 2026-03-27
0 0 * * SAT-SUN | UTC | 2026-01-01 | 2026-01-03 | 2026-01-04 | 2026-01-10
0 0 * * SUN-TUE | UTC | 2026-01-01 | 2026-01-04 | 2026-01-05 | 2026-01-06
0 0 * * 7-7 | UTC | 2026-01-01 | 2026-01-04 | 2026-01-11
0 0 * * 0-7 | UTC | 2026-01-01 | 2026-01-02 | 2026-01-03
0 0 * * 1#1,5L | UTC | 2026-01-01 | 2026-01-05 | 2026-01-30 | 2026-02-02
0 0 * * 1#1,3#2 | UTC | 2026-01-01 | 2026-01-05 | 2026-01-14 | 2026-02-02
0 0 * * 1-3#2 | UTC | 2026-01-01 | 2026-01-12 | 2026-01-13 | 2026-01-14
0 0 13 * 5#1 | UTC | 2026-01-01 | 2026-01-02 | 2026-01-13 | 2026-02-06
0 0 */1 * 1 | UTC | 2026-01-01 | 2026-01-02 | 2026-01-03
0 0 * 2 1#5 | UTC | 2026-01-01 | 2044-02-29 | 2072-02-29 | 2112-02-29
@midnight | UTC | 2026-01-01 | 2026-01-02 | 2026-01-03
@DAILY | UTC | 2026-01-01 | 2026-01-02 | 2026-01-03
@annually | UTC | 2026-01-01 | 2027-01-01 | 2028-01-01
  */15,7	*  * * *  | UTC | 2026-01-01 | 2026-01-01T00:07:00Z | 2026-01-01T00:15:00Z | 2026-01-01T00:30:00Z
00 09 * * * | UTC | 2026-01-01 | 2026-01-01T09:00:00Z | 2026-01-02T09:00:00Z
)");
}

TEST(Cron, RefusesInvalidExpressions) {
  std::istringstream in(R"(60 * * * *
* 24 * * *
* * 0 * *
* * * 13 *
* * * * 8
30-10 * * * *
0 22-2 * * *
0 0 * * FRI-MON
0 0 * * 6-0
*/0 * * * *
*/61 * * * *
/10 * * * *
5/15 * * * *
*-5 * * * *
-5 * * * *
a * * * *
1,,2 * * * *
0 0 * * MON,
0 0 * * 1#6
0 0 * * 1#0
0 0 * * #2
0 0 32W * *
0 0 W * *
0 0 1-5W * *
0 0 15,LW * *
0 0 L-3 * *
0 0 * * L
0 0 * * L5
0 0 * * +MON
0 0 * JANUARY *
0 0 * * MONDAY
0 0 1 1 * 2026 *
* * * *
* * * * * * * *
@reboot
@minutely
@secondly
@weekdays
@weekends
@daily @daily
H
H * * * *
99999999999999999999 * * * *)");
  for (std::string line; std::getline(in, line);) EXPECT_NE(cron_error(line), "none") << line;
  EXPECT_NE(cron_error(""), "none");
  EXPECT_NE(cron_error(" \t "), "none");
}

TEST(Cron, StatesWhatIsWrongAndWhere) {
  EXPECT_EQ(cron_error("60 * * * *"), "minute: \"60\" is not of 0 to 59");
  EXPECT_EQ(cron_error("0 0 * * MONDAY"), "day of week: \"MONDAY\" is not of 0 to 7, SUN to SAT");
  EXPECT_EQ(cron_error("0 22-2 * * *"), "hour: \"22-2\" ends before it begins");
  EXPECT_EQ(cron_error("*/61 * * * *"), "minute: \"*/61\" needs a step of 1 to 60");
  EXPECT_EQ(cron_error("5/15 * * * *"), "minute: \"5/15\" has a step without a range");
  EXPECT_EQ(cron_error("* * * *"), "needs 5 fields (minute hour day month weekday) or 6 (seconds first), not 4");
  EXPECT_EQ(cron_error("@reboot"),
            "a macro is one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly");
}

TEST(Cron, NeverFiresOnImpossibleDays) {
  const auto utc = *TimeZone::named("UTC");
  for (const auto* expression : {"0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 30W 2 *", "0 0 31W 2 *"}) {
    EXPECT_EQ(next(Cron(expression), *parse_iso8601("2026-01-01"), utc), "never") << expression;
    EXPECT_EQ(cron_problem(expression), "never fires") << expression;
  }
}

TEST(Cron, FindsNoTimesAfterTheYear9999) {
  const auto utc = *TimeZone::named("UTC");
  EXPECT_EQ(next(Cron("* * * * * *"), *parse_iso8601("9999-12-31T23:59:58Z"), utc), "9999-12-31T23:59:59.000Z");
  EXPECT_EQ(next(Cron("* * * * * *"), *parse_iso8601("9999-12-31T23:59:59Z"), utc), "never");
  EXPECT_EQ(next(Cron("0 0 * 2 0#5"), *parse_iso8601("9950-01-01"), utc), "9976-02-29T00:00:00.000Z");
  EXPECT_EQ(next(Cron("0 0 * 2 0#5"), *parse_iso8601("9976-03-01"), utc), "never");
}

TEST(Cron, IsValidatedWithoutAZone) {
  EXPECT_EQ(cron_problem("0 0 * 2 1#5"), std::nullopt);
  EXPECT_EQ(cron_problem("0 0 29 2 *"), std::nullopt);
  EXPECT_EQ(cron_problem("0 0 * * L"), "day of week: \"L\" is not of 0 to 7, SUN to SAT");
}

TEST(Cron, DropsTheFractionOfTheStart) {
  const auto utc = *TimeZone::named("UTC");
  EXPECT_EQ(next(Cron("* * * * * *"), *parse_iso8601("2026-01-01T00:00:00.999Z"), utc), "2026-01-01T00:00:01.000Z");
  EXPECT_EQ(next(Cron("* * * * * *"), *parse_iso8601("2026-01-01T00:00:01.000Z"), utc), "2026-01-01T00:00:02.000Z");
}

TEST(TimeZones, AreThoseOfTheDatabaseAndNoFiles) {
  for (const auto* name : {"UTC", "America/New_York", "Etc/GMT+5", "Asia/Calcutta"})
    EXPECT_TRUE(TimeZone::named(name)) << name;
  for (const auto* name : {"", "Mars/Olympus", "/etc/localtime", "localtime", "../../../etc/localtime", "Europe/",
                           "file:/etc/localtime", "UTC "}) {
    EXPECT_FALSE(TimeZone::named(name)) << name;
  }
}

TEST(TimeZones, HaveSpansFromOneChangeOfTheClocksToTheNext) {
  using std::chrono::sys_seconds;
  const auto at = [](const char* text) { return std::chrono::floor<std::chrono::seconds>(*parse_iso8601(text)); };
  const auto zone = *TimeZone::named("Europe/Berlin");
  for (const auto* inside : {"2026-03-29T01:00:00Z", "2026-07-01", "2026-10-25T00:59:59Z"}) {
    const auto span = zone.span_at(at(inside));
    EXPECT_EQ(span.begin, at("2026-03-29T01:00:00Z"));
    EXPECT_EQ(span.end, at("2026-10-25T01:00:00Z"));
    EXPECT_EQ(span.offset, std::chrono::hours{2});
    EXPECT_EQ(span.offset_before, std::chrono::hours{1});
  }
  const auto utc = TimeZone::named("UTC")->span_at(at("2026-01-01"));
  EXPECT_EQ(utc.begin, sys_seconds::min());
  EXPECT_EQ(utc.end, sys_seconds::max());
}

}  // namespace
}  // namespace agw
