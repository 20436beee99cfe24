#include "features/jobs/schedule.hpp"

#include <map>

#include <gtest/gtest.h>

namespace agw {
namespace {

using namespace std::chrono_literals;

Timestamp time_of(std::string_view text) { return *parse_iso8601(text); }

JobTiming timing(std::string_view expression, std::string_view zone = "UTC") {
  return {Cron(expression), *TimeZone::named(zone)};
}

std::vector<std::string> texts(const std::vector<Timestamp>& times) {
  std::vector<std::string> texts;
  for (const auto time : times) texts.push_back(to_iso8601(time).substr(0, 16));
  return texts;
}

/// The due times that a schedule reports up to `end`, if it is asked exactly at each of them.
std::map<std::string, std::vector<Timestamp>> simulate(Schedule& schedule, Timestamp end) {
  std::map<std::string, std::vector<Timestamp>> fired;
  for (auto now = schedule.next_due(); now && *now <= end; now = schedule.next_due()) {
    while (const auto due = schedule.take(*now)) {
      EXPECT_EQ(due->times, std::vector{*now}) << due->job_id;
      fired[due->job_id].push_back(*now);
    }
  }
  return fired;
}

std::vector<std::string> over_a_night(std::string_view expression, std::string_view zone, std::string_view from,
                                      std::string_view until) {
  Schedule schedule;
  schedule.put("job", timing(expression, zone), time_of(from));
  return texts(simulate(schedule, time_of(until))["job"]);
}

using Texts = std::vector<std::string>;

TEST(Schedule, ReportsEachJobWhenItIsDueAndQueuesItAgain) {
  Schedule schedule;
  schedule.put("hourly", timing("0 * * * *"), time_of("2026-01-01T00:30:00Z"));
  schedule.put("daily", timing("0 2 * * *"), time_of("2026-01-01T00:30:00Z"));
  EXPECT_EQ(schedule.next_due(), time_of("2026-01-01T01:00:00Z"));
  EXPECT_FALSE(schedule.take(time_of("2026-01-01T00:59:59.999Z")));
  EXPECT_EQ(schedule.take(time_of("2026-01-01T01:00:00Z"))->job_id, "hourly");
  EXPECT_FALSE(schedule.take(time_of("2026-01-01T01:00:00Z")));
  EXPECT_EQ(schedule.next_due(), time_of("2026-01-01T02:00:00Z"));
  EXPECT_EQ(schedule.take(time_of("2026-01-01T02:00:00Z"))->job_id, "daily");
  EXPECT_EQ(schedule.take(time_of("2026-01-01T02:00:00Z"))->job_id, "hourly");
  EXPECT_EQ(schedule.next_due(), time_of("2026-01-01T03:00:00Z"));
}

TEST(Schedule, ForgetsAJobThatIsRemovedOrReplaced) {
  Schedule schedule;
  schedule.put("job", timing("0 * * * *"), time_of("2026-01-01T00:30:00Z"));
  schedule.put("job", timing("30 * * * *"), time_of("2026-01-01T00:30:00Z"));
  EXPECT_EQ(schedule.next_due(), time_of("2026-01-01T01:30:00Z"));
  schedule.remove("job");
  schedule.remove("nothing");
  EXPECT_FALSE(schedule.next_due());
  EXPECT_EQ(schedule.size(), 0u);
}

TEST(Schedule, AJobThatIsNeverDueWaitsForNothing) {
  Schedule schedule;
  schedule.put("never", timing("0 0 30 2 *"), time_of("2026-01-01T00:00:00Z"));
  EXPECT_FALSE(schedule.next_due());
  EXPECT_FALSE(schedule.take(time_of("2036-01-01T00:00:00Z")));
}

// Daylight saving time begins or ends. Times are UTC.

TEST(Schedule, InNewYorkATimeInTheGapRunsOnceAfterItAndARepeatedOneOnce) {
  EXPECT_EQ(over_a_night("30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-09T12:00:00Z"),
            (Texts{"2026-03-08T07:00", "2026-03-09T06:30"}));
  EXPECT_EQ(over_a_night("30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", "2026-11-02T12:00:00Z"),
            (Texts{"2026-11-01T05:30", "2026-11-02T06:30"}));
}

TEST(Schedule, InBerlinAnHourlyJobSkipsTheGapAndRunsInBothHours) {
  EXPECT_EQ(over_a_night("15 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T03:00:00Z"),
            (Texts{"2026-03-29T00:15", "2026-03-29T01:15", "2026-03-29T02:15"}));
  EXPECT_EQ(over_a_night("15 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z"),
            (Texts{"2026-10-25T00:15", "2026-10-26T01:15"}));
  EXPECT_EQ(over_a_night("15,45 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T12:00:00Z"),
            (Texts{"2026-10-25T00:15", "2026-10-25T00:45", "2026-10-25T01:15", "2026-10-25T01:45"}));
}

TEST(Schedule, OnLordHoweTheClocksChangeByHalfAnHour) {
  EXPECT_EQ(over_a_night("15 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00:00Z", "2026-10-04T20:00:00Z"),
            (Texts{"2026-10-03T15:30", "2026-10-04T15:15"}));
  EXPECT_EQ(over_a_night("45 1 * * *", "Australia/Lord_Howe", "2026-04-03T20:00:00Z", "2026-04-05T20:00:00Z"),
            (Texts{"2026-04-04T14:45", "2026-04-05T15:15"}));
}

TEST(Schedule, InHavanaTheGapIsAtMidnight) {
  EXPECT_EQ(over_a_night("0 0 * * *", "America/Havana", "2026-03-07T12:00:00Z", "2026-03-09T12:00:00Z"),
            (Texts{"2026-03-08T05:00", "2026-03-09T04:00"}));
  EXPECT_EQ(over_a_night("30 0 * * *", "America/Havana", "2026-10-31T12:00:00Z", "2026-11-02T12:00:00Z"),
            (Texts{"2026-11-01T04:30", "2026-11-02T05:30"}));
}

TEST(Schedule, InCairoTheGapIsAtMidnightToo) {
  EXPECT_EQ(over_a_night("30 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-25T12:00:00Z"),
            (Texts{"2026-04-23T22:00", "2026-04-24T21:30"}));
}

// The clock is set.

TEST(Schedule, AForwardJumpOfTheClockReportsTheSkippedTimesAtOnce) {
  Schedule schedule;
  schedule.put("hourly", timing("0 * * * *"), time_of("2026-01-01T00:30:00Z"));
  const auto due = schedule.take(time_of("2026-01-01T03:30:00Z"));
  EXPECT_EQ(texts(due->times), (Texts{"2026-01-01T01:00", "2026-01-01T02:00", "2026-01-01T03:00"}));
  EXPECT_FALSE(due->more);
  EXPECT_EQ(schedule.next_due(), time_of("2026-01-01T04:00:00Z"));
}

TEST(Schedule, OfVeryManyTimesTheLatestAreReported) {
  Schedule schedule;
  schedule.put("each-second", timing("* * * * * *"), time_of("2025-01-01T00:00:00Z"));
  const auto now = time_of("2026-01-01T00:00:00Z");
  const auto due = schedule.take(now);
  ASSERT_EQ(due->times.size(), Schedule::max_times);
  EXPECT_TRUE(due->more);
  EXPECT_EQ(due->times.back(), now);
  EXPECT_EQ(due->times.front(), now - 24s);
}

TEST(Schedule, TimesThatLieFarApartAreAllFound) {
  const auto due =
      latest_times("job", timing("0 0 1 1 *"), time_of("2020-01-01T00:00:00Z"), time_of("2026-06-01T00:00:00Z"));
  EXPECT_EQ(due.times.size(), 7u);
  EXPECT_FALSE(due.more);
}

TEST(Schedule, AClockThatIsSetBackIsFollowed) {
  Schedule schedule;
  schedule.put("daily", timing("0 12 * * *"), time_of("2030-01-01T00:00:00Z"));
  EXPECT_TRUE(schedule.take(time_of("2030-01-01T12:00:00Z")));
  EXPECT_FALSE(schedule.take(time_of("2026-01-01T00:00:00Z")));
  EXPECT_EQ(schedule.next_due(), time_of("2026-01-01T12:00:00Z"));
}

TEST(Schedule, AClockThatIsSetBackBeforeAnythingWasDueIsFollowed) {
  Schedule schedule;
  EXPECT_FALSE(schedule.observe_time(time_of("2030-01-01T00:00:00Z")));
  schedule.put("daily", timing("0 12 * * *"), time_of("2030-01-01T00:00:00Z"));
  EXPECT_FALSE(schedule.observe_time(time_of("2030-01-01T01:00:00Z")));
  EXPECT_TRUE(schedule.observe_time(time_of("2026-01-01T00:00:00Z")));
  EXPECT_FALSE(schedule.observe_time(time_of("2026-01-01T00:00:00Z")));
  EXPECT_EQ(schedule.next_due(), time_of("2026-01-01T12:00:00Z"));
}

TEST(Schedule, ASmallStepBackReportsATimeAgainSoThatItsRowMustRefuseIt) {
  Schedule schedule;
  schedule.put("job", timing("0 12 * * *"), time_of("2026-01-01T00:00:00Z"));
  const auto first = schedule.take(time_of("2026-01-01T12:00:00.005Z"));
  EXPECT_FALSE(schedule.take(time_of("2026-01-01T11:59:59.990Z")));
  const auto again = schedule.take(time_of("2026-01-01T12:00:00.001Z"));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->times, first->times);
}

TEST(Schedule, TenThousandJobsOverAMonthRunExactlyOnceAtEachTime) {
  constexpr int jobs = 10'000;
  const std::string zones[] = {"UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Pacific/Auckland"};
  // One third each are daily, weekly and monthly. In two of the zones, daylight saving time begins in this month.
  const std::string days[] = {"* * *", "* * 3", "17 * *"};
  const double counts[] = {30, 30 / 7.0, 1};
  const std::chrono::hours apart[] = {24h, 7 * 24h, 31 * 24h};
  Schedule schedule;
  for (int job = 0; job < jobs; ++job) {
    const auto time_of_day = std::to_string(job % 60) + " " + std::to_string(job / 60 % 24) + " ";
    schedule.put(std::to_string(job), timing(time_of_day + days[job % 3], zones[job % 5]),
                 time_of("2026-10-10T00:00:00Z"));
  }
  const auto fired = simulate(schedule, time_of("2026-11-09T00:00:00Z"));
  ASSERT_EQ(fired.size(), static_cast<std::size_t>(jobs));
  for (int job = 0; job < jobs; ++job) {
    const auto& times = fired.at(std::to_string(job));
    EXPECT_NEAR(static_cast<double>(times.size()), counts[job % 3], 1) << job;
    for (std::size_t i = 1; i < times.size(); ++i) {
      const auto distance = times[i] - times[i - 1];
      EXPECT_TRUE(distance >= apart[job % 3] - 1h && distance <= apart[job % 3] + 1h) << job;
    }
  }
}

TEST(Schedule, NextTimesAreThoseAfterTheStart) {
  EXPECT_EQ(texts(next_times(timing("0 9 * * MON-FRI"), time_of("2026-01-02T09:00:00Z"), 3)),
            (Texts{"2026-01-05T09:00", "2026-01-06T09:00", "2026-01-07T09:00"}));
  EXPECT_TRUE(next_times(timing("0 0 30 2 *"), time_of("2026-01-02T09:00:00Z"), 3).empty());
}

}  // namespace
}  // namespace agw
