#include "features/channels/notices.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "features/jobs/types.hpp"
#include "features/proposals/types.hpp"
#include "features/signals/types.hpp"

namespace agw {

namespace {

/// The end of a shorter run needs no notice: people are still looking.
constexpr std::int64_t long_run_ms = 60'000;

std::optional<ChannelNotification> end_of_answer(const DomainEvent& event) {
  const auto members = event.message_members();
  const auto* duration = members.if_contains("durationMs");
  if (!duration || !duration->is_number() || duration->to_number<double>() <= long_run_ms) return std::nullopt;
  const bool failed = string_member(members, "finishReason") == "error";
  return ChannelNotification{ChannelNotice::finish, failed ? "An answer has failed." : "An answer is ready."};
}

}  // namespace

std::optional<ChannelNotification> channel_notification(const DomainEvent& event) {
  if (event.type == "signal") {
    const auto* signal = event.record.as<Signal>();
    if (signal) return ChannelNotification{ChannelNotice::signal, signal->message};
  } else if (event.type == "proposal-created") {
    const auto* proposal = event.record.as<Proposal>();
    if (proposal) {
      return ChannelNotification{ChannelNotice::proposal_created,
                                 fmt::format("A proposal of {} is waiting: {}", proposal->agent, proposal->title)};
    }
  } else if (event.name == "job.failed") {
    const auto* run = event.record.as<JobRun>();
    if (run) {
      return ChannelNotification{ChannelNotice::job_failed, fmt::format("The job {} has failed: {}", run->job,
                                                                        run->error.value_or("no reason is known"))};
    }
  } else if (event.type == "finish") {
    return end_of_answer(event);
  }
  return std::nullopt;
}

}  // namespace agw
