#include "features/jobs/store.hpp"

#include <gtest/gtest.h>

#include "storage/database.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

Timestamp time_at(std::string_view text) { return *parse_iso8601(text); }

class JobStore : public ::testing::Test {
protected:
  Loop loop_;
  const testing::ScratchDirectory directory_;
  Database database_{loop_, {.file = directory_.path() / "gateway.db", .backups = directory_.path() / "backups"}};
};

TEST_F(JobStore, DueTimesThatAClockAheadHadLeftAreSetBack) {
  auto& connection = database_.start_connection();
  const auto past = time_at("2026-01-01T00:00:00Z");
  const auto now = time_at("2026-02-01T00:00:00Z");
  job_store::remember_due_time(connection, "past", past);
  job_store::remember_due_time(connection, "ahead", time_at("2030-01-01T00:00:00Z"));
  job_store::set_due_times_back(connection, now);
  EXPECT_EQ(job_store::latest_due_times(connection),
            (std::map<std::string, Timestamp>{{"ahead", now}, {"past", past}}));
}

TEST_F(JobStore, ARunThatWasOnItsWayWhenItsScheduleEndedLeavesNoDueTime) {
  auto& connection = database_.start_connection();
  const auto due = time_at("2026-01-01T00:00:00Z");
  job_store::remember_due_time(connection, "kept", time_at("2025-01-01T00:00:00Z"));
  job_store::remember_due_time(connection, "ended", time_at("2025-01-01T00:00:00Z"));
  job_store::forget_due_times(connection, "ended");
  for (const auto* job : {"kept", "ended"}) {
    JobRun run{
        .id = std::string("run of ") + job, .job_id = job, .job = job, .trigger = JobRunTrigger::cron, .due_at = due};
    EXPECT_TRUE(job_store::insert(connection, run));
  }
  EXPECT_EQ(job_store::latest_due_times(connection), (std::map<std::string, Timestamp>{{"kept", due}}));
}

}  // namespace
}  // namespace agw
