#include "features/jobs/scheduler.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

class SetClock : public Clock {
public:
  Timestamp now() const override { return time; }
  Timestamp time;
};

TEST(Scheduler, ReportsOnceThatTheClockWasSetBack) {
  Loop loop;
  SetClock clock;
  clock.time = *parse_iso8601("2030-01-01T00:00:00Z");
  std::vector<Timestamp> fired;
  Scheduler scheduler(loop, clock, [](const DueTimes&) {}, [&](Timestamp now) { fired.push_back(now); });
  const CronTrigger hourly{.expression = "0 * * * *", .timezone = {}};
  scheduler.arm("first", hourly, clock.time);
  clock.time = *parse_iso8601("2026-01-01T00:00:00Z");
  scheduler.arm("second", hourly, clock.time);
  scheduler.arm("third", hourly, clock.time);
  EXPECT_EQ(fired, std::vector{clock.time});
}

}  // namespace
}  // namespace agw
