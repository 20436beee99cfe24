#include <gtest/gtest.h>

#include "base/json/json.hpp"
#include "features/events/hub.hpp"
#include "features/jobs/types.hpp"
#include "features/push/types.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;

DomainEvent finished(std::string_view members) {
  return {.type = "finish",
          .thread_id = "t-1",
          .text = R"({"type":"finish","threadId":"t-1",)" + std::string(members) + "}"};
}

DomainEvent asked(std::string_view request) {
  return {.type = "permission-requested",
          .thread_id = "t-1",
          .text = R"({"type":"permission-requested","threadId":"t-1","request":)" + std::string(request) + "}"};
}

TEST(Notices, StateThatAnAgentAsksButNotWhat) {
  const auto notice =
      notice_of(asked(R"({"id":"r","tool":"Bash","input":{"command":"rm -rf /home/me"},"target":"rm"})"));
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->kind, PushKind::permission_requested);
  EXPECT_EQ(notice->body, "An agent asks for permission.");
  EXPECT_EQ(notice->url, "/ui/#/t/t-1");
  EXPECT_TRUE(notice->urgent);
  EXPECT_EQ(notice->ttl, 10min);
  EXPECT_EQ(to_payload(*notice).find("home"), std::string::npos);
  EXPECT_EQ(notice_of(asked(R"({"kind":"question","input":{"question":"Which one?"}})"))->body,
            "An agent asks you a question.");
}

TEST(Notices, ReportTheEndOfARunThatTookOverAMinute) {
  EXPECT_FALSE(notice_of(finished(R"("finishReason":"stop","durationMs":60000)")));
  EXPECT_FALSE(notice_of(finished(R"("finishReason":"stop")")));
  const auto notice = notice_of(finished(R"("finishReason":"stop","durationMs":60001)"));
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->body, "An answer is ready.");
  EXPECT_FALSE(notice->urgent);
  EXPECT_EQ(notice_of(finished(R"("finishReason":"error","durationMs":60001)"))->body, "An answer has failed.");
}

TEST(Notices, ReportProposalsFailedJobsAndSignals) {
  JobRun run;
  run.job_id = "j";
  run.error = "the secret is 42";
  const auto failed = notice_of({.name = "job.failed", .type = "job-finished", .record = run});
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->kind, PushKind::job_failed);
  EXPECT_EQ(to_payload(*failed).find("42"), std::string::npos);
  EXPECT_EQ(notice_of({.type = "proposal-created"})->kind, PushKind::proposal_created);
  EXPECT_EQ(notice_of({.type = "signal"})->kind, PushKind::signal);
  for (const std::string_view type : {"text-delta", "stopped", "turn-created", "job-finished", "proposal-decided"})
    EXPECT_FALSE(notice_of({.type = type, .text = "{}"})) << type;
}

TEST(Notices, HaveTopicsByTheirSubject) {
  const auto one = notice_of(asked("{}"));
  auto elsewhere = asked("{}");
  elsewhere.thread_id = "t-2";
  EXPECT_EQ(one->topic, notice_of(asked("{}"))->topic);
  EXPECT_NE(one->topic, notice_of(elsewhere)->topic);
  EXPECT_NE(one->topic, notice_of(finished(R"("durationMs":70000)"))->topic);
  EXPECT_EQ(one->topic.size(), 32u) << "the most that push services take";
  EXPECT_EQ(one->topic.find("t-1"), std::string::npos);
}

}  // namespace
}  // namespace agw
