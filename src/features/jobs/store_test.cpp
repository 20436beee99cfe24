#include "features/jobs/store.hpp"

#include <gtest/gtest.h>

#include "storage/database.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

Timestamp at(std::string_view text) { return *parse_iso8601(text); }

TEST(JobStore, DueTimesThatAClockAheadHadLeftAreSetBack) {
  Loop loop;
  const testing::ScratchDirectory directory;
  Database database(loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"});
  auto& connection = database.start_connection();
  const auto past = at("2026-01-01T00:00:00Z");
  const auto now = at("2026-02-01T00:00:00Z");
  job_store::remember_due_time(connection, "past", past);
  job_store::remember_due_time(connection, "ahead", at("2030-01-01T00:00:00Z"));
  job_store::set_due_times_back(connection, now);
  EXPECT_EQ(job_store::latest_due_times(connection),
            (std::map<std::string, Timestamp>{{"ahead", now}, {"past", past}}));
}

}  // namespace
}  // namespace agw
