#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// The longest name that a device may give itself, in bytes.
inline constexpr std::size_t max_device_size = 128;

/// A client's `subscribe` or `unsubscribe`.
struct SubscriptionMessage {
  std::optional<std::string> threadId;
  std::optional<std::vector<std::string>> threadIds;
  std::optional<bool> lists;
  std::optional<bool> approvals;
  std::optional<bool> resume;
  std::optional<std::string> device;
  std::optional<bool> visible;
};
const Description& describe(Tag<SubscriptionMessage>);

/// What led to an event, as far as that is known where it is published. None of these jobs is started by it.
struct EventCause {
  std::set<std::string> job_ids;
  int depth = 0;         ///< of a run that the event starts: how many events led to it, one run after the other
  std::string run_id{};  ///< of the run whose agent made what the event tells of; its job is behind the event too
};

/// Published when events of other nodes may not have arrived: their followers must reread the active runs.
struct EventsMissed {
  std::string why;
};
const Description& describe(Tag<EventsMissed>);

}  // namespace agw
