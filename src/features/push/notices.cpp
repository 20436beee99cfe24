#include <cstdint>

#include <fmt/format.h>

#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "features/events/hub.hpp"
#include "features/jobs/types.hpp"
#include "features/push/types.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

/// Questions do not wait longer.
constexpr auto question_ttl = 10min;
constexpr auto notice_ttl = 24h;
constexpr std::int64_t long_run_ms = 60'000;
constexpr std::size_t topic_size = 32;
static_assert(topic_size <= 32);  // RFC 8030, 5.4
static_assert(question_ttl < notice_ttl);
constexpr std::string_view inbox = "/ui/#/inbox";

/// A hash, because ids are too long for a topic, and the push service should not learn them.
std::string topic_of(std::string_view kind, std::string_view about) {
  return to_base64url(sha256(fmt::format("{} {}", kind, about))).substr(0, topic_size);
}

std::string address_of(std::string_view thread_id) {
  return thread_id.empty() ? std::string(inbox) : fmt::format("/ui/#/t/{}", thread_id);
}

PushNotice notice_of(PushKind kind, std::string_view about, std::string_view body,
                     std::string url = std::string(inbox)) {
  return {.kind = kind,
          .body = std::string(body),
          .url = std::move(url),
          .topic = topic_of(to_text(kind), about),
          .ttl = notice_ttl};
}

PushNotice question(const DomainEvent& event) {
  const auto request = object_or_empty(event.message_members(), "request");
  const bool is_question = string_member(request, "kind") == "question";
  auto notice = notice_of(PushKind::permission_requested, event.thread_id,
                          is_question ? "An agent asks you a question." : "An agent asks for permission.",
                          address_of(event.thread_id));
  notice.ttl = question_ttl;
  notice.urgent = true;
  return notice;
}

std::optional<PushNotice> finish(const DomainEvent& event) {
  const auto members = event.message_members();
  const auto* duration = members.if_contains("durationMs");
  if (!duration || !duration->is_number() || duration->to_number<double>() <= long_run_ms) return std::nullopt;
  const bool failed = string_member(members, "finishReason") == "error";
  return notice_of(PushKind::finish, event.thread_id, failed ? "An answer has failed." : "An answer is ready.",
                   address_of(event.thread_id));
}

PushNotice job_failed(const DomainEvent& event) {
  const auto* run = event.record.as<JobRun>();
  return notice_of(PushKind::job_failed, run ? run->job_id : "", "A job has failed.");
}

}  // namespace

std::optional<PushNotice> notice_of(const DomainEvent& event) {
  if (event.type == "permission-requested") return question(event);
  if (event.type == "finish") return finish(event);
  if (event.type == "proposal-created")
    return notice_of(PushKind::proposal_created, "", "A proposal is waiting for you.");
  if (event.type == "signal") return notice_of(PushKind::signal, "", "The gateway has a signal for you.");
  if (event.name == "job.failed") return job_failed(event);
  return std::nullopt;
}

PushNotice test_notice() {
  return {.kind = PushKind::signal,
          .body = "Notifications work.",
          .url = "/ui/#/system",
          .topic = topic_of("test", ""),
          .ttl = 60s,
          .urgent = true};
}

std::string to_payload(const PushNotice& notice) {
  return to_json(json::object{
      {"kind", to_text(notice.kind)}, {"body", notice.body}, {"url", notice.url}, {"topic", notice.topic}});
}

}  // namespace agw
