#include "features/jobs/event_triggers.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "features/jobs/types.hpp"

namespace agw {
namespace {

class EventTriggersTest : public ::testing::Test {
protected:
  std::vector<std::string> jobs_started_by(const DomainEvent& event) {
    started_.clear();
    triggers_.deliver(event);
    return started_;
  }

  std::vector<std::string> started_;
  EventTriggers triggers_{
      [this](const std::string& job_id, const DomainEvent&, const json::object&) { started_.push_back(job_id); }};
  const JobRun run_{.id = "r", .job = "nightly", .status = JobRunStatus::failed};
  using Jobs = std::vector<std::string>;
};

TEST_F(EventTriggersTest, StartTheJobsThatNameTheEvent) {
  triggers_.arm("a", {"job.failed", {}});
  triggers_.arm("b", {"job.completed", {}});
  EXPECT_EQ(jobs_started_by({.name = "job.failed", .record = run_}), Jobs{"a"});
  EXPECT_EQ(jobs_started_by({.type = "job-finished", .record = run_}), Jobs{}) << "of no name";
  triggers_.disarm("a");
  EXPECT_EQ(jobs_started_by({.name = "job.failed", .record = run_}), Jobs{});
}

TEST_F(EventTriggersTest, CompareTheirFilterWithTheRecord) {
  triggers_.arm("a", {"job.failed", json::object{{"job", "nightly"}, {"dry", false}}});
  triggers_.arm("b", {"job.failed", json::object{{"job", "weekly"}}});
  triggers_.arm("c", {"job.failed", json::object{{"color", "red"}}});
  EXPECT_EQ(jobs_started_by({.name = "job.failed", .record = run_}), Jobs{"a"});
}

TEST_F(EventTriggersTest, AwaitTheEventsThatTheyName) {
  EXPECT_FALSE(triggers_.awaits("job."));
  triggers_.arm("a", {"job.failed", {}});
  EXPECT_TRUE(triggers_.awaits("job."));
  EXPECT_FALSE(triggers_.awaits("proposal."));
}

}  // namespace
}  // namespace agw
