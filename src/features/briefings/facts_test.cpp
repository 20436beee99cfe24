#include "features/briefings/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::HasSubstr;

const auto noted_at = *parse_iso8601("2026-01-02T03:04:05Z");

BriefingFacts busy_day() {
  BriefingFacts facts;
  facts.threads = {{"t1", "Plans for May", noted_at}, {"t2", "Otters", noted_at}};
  add_runs(facts, {{.id = "r1", .job = "nightly", .status = JobRunStatus::completed, .finished_at = noted_at},
                   {.id = "r2", .job = "report", .status = JobRunStatus::failed, .finished_at = noted_at},
                   {.id = "r3", .job = "report", .status = JobRunStatus::started, .started_at = noted_at}});
  facts.proposals = {{"assistant/2026-01-02", "A clearer soul", noted_at}};
  facts.costs = 1.5;
  return facts;
}

TEST(BriefingFacts, RunsBecomeEntriesAndCounts) {
  const auto facts = busy_day();
  ASSERT_EQ(facts.jobs.size(), 3u);
  EXPECT_EQ(facts.jobs[1], (BriefingEntry{"r2", "report: failed", noted_at}));
  EXPECT_EQ(facts.failed_runs, 1u);
  EXPECT_EQ(facts.stopped_runs, 0u);
}

TEST(BriefingFacts, ARunThatWaitsHasTheTimeOfItsOrder) {
  BriefingFacts facts;
  add_runs(facts, {{.id = "019b7d3b-5d88-7557-b1df-610caec675de", .job = "report", .status = JobRunStatus::queued}});
  EXPECT_EQ(facts.jobs[0].at, Timestamp(std::chrono::milliseconds(0x019b7d3b5d88)));
}

TEST(BriefingFacts, ThePlainSummaryCountsWhatHappened) {
  EXPECT_EQ(plain_summary(busy_day()),
            "In the last 24 hours: 2 chats changed, 3 job runs (1 failed); 1.50 USD spent today. The latest chat "
            "is \"Plans for May\". 1 proposal waits for a decision.");
  EXPECT_EQ(plain_summary({}), "In the last 24 hours: no chats changed, no job runs; 0.00 USD spent today.");
}

TEST(BriefingFacts, TheReflectionNamesTheOneThingToLookAt) {
  auto facts = busy_day();
  EXPECT_THAT(plain_reflection(facts), HasSubstr("attention: a job failed (report: failed)"));
  facts.highlights = {"The disk is nearly full."};
  EXPECT_THAT(plain_reflection(facts), HasSubstr("attention: The disk is nearly full."));
  facts.highlights.clear();
  facts.jobs.clear();
  EXPECT_THAT(plain_reflection(facts), HasSubstr("attention: the proposal \"A clearer soul\""));
  EXPECT_THAT(plain_reflection({}), HasSubstr("Nothing needs attention."));
}

TEST(BriefingFacts, TheReflectionIsShortWhateverTitlesSay) {
  auto facts = busy_day();
  facts.highlights = {std::string(5000, 'x')};
  EXPECT_EQ(plain_reflection(facts).size(), 900u);
}

TEST(BriefingFacts, AModelIsAskedWithTitlesAndSignals) {
  auto facts = busy_day();
  facts.highlights = {"The disk is nearly full."};
  const auto request = summary_request(facts);
  for (const auto* part : {"Plans for May", "report: failed", "A clearer soul", "Signal: The disk is nearly full."}) {
    EXPECT_THAT(request, HasSubstr(part));
  }
}

}  // namespace
}  // namespace agw
