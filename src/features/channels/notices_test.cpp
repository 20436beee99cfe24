#include "features/channels/notices.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "features/jobs/types.hpp"
#include "features/proposals/types.hpp"
#include "features/signals/types.hpp"

namespace agw {
namespace {

std::optional<ChannelNotification> notice_of_end(std::string_view members) {
  return channel_notification({.type = "finish",
                               .thread_id = "t-1",
                               .text = R"({"type":"finish","threadId":"t-1",)" + std::string(members) + "}"});
}

TEST(ChannelNotices, ReportTheEndOfARunThatTookOverAMinute) {
  EXPECT_FALSE(notice_of_end(R"("finishReason":"stop","durationMs":60000)"));
  EXPECT_FALSE(notice_of_end(R"("finishReason":"stop")"));
  EXPECT_FALSE(notice_of_end(R"("finishReason":"stop","durationMs":"60001")"));
  const auto notice = notice_of_end(R"("finishReason":"stop","durationMs":60001)");
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->kind, ChannelNotice::finish);
  EXPECT_EQ(notice->text, "An answer is ready.");
  EXPECT_EQ(notice_of_end(R"("finishReason":"error","durationMs":60001)")->text, "An answer has failed.");
}

TEST(ChannelNotices, NameTheirSubject) {
  Signal signal;
  signal.message = "No backup.";
  const auto of_signal = channel_notification({.type = "signal", .record = signal});
  ASSERT_TRUE(of_signal);
  EXPECT_EQ(of_signal->kind, ChannelNotice::signal);
  EXPECT_EQ(of_signal->text, "No backup.");

  Proposal proposal;
  proposal.agent = "assistant";
  proposal.title = "Greet by name";
  const auto of_proposal = channel_notification({.type = "proposal-created", .record = proposal});
  ASSERT_TRUE(of_proposal);
  EXPECT_EQ(of_proposal->kind, ChannelNotice::proposal_created);
  EXPECT_EQ(of_proposal->text, "A proposal of assistant is waiting: Greet by name");

  JobRun run;
  run.job = "nightly";
  const auto of_job = channel_notification({.name = "job.failed", .type = "job-finished", .record = run});
  ASSERT_TRUE(of_job);
  EXPECT_EQ(of_job->kind, ChannelNotice::job_failed);
  EXPECT_EQ(of_job->text, "The job nightly has failed: no reason is known");
}

TEST(ChannelNotices, IgnoreOtherEvents) {
  for (const std::string_view type : {"text-delta", "stopped", "turn-created", "job-finished", "proposal-decided"})
    EXPECT_FALSE(channel_notification({.type = type, .text = "{}"})) << type;
}

}  // namespace
}  // namespace agw
