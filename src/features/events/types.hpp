#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// The maximum size of a device's name, in bytes.
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

/// The cause of an event, as far as it is known at its publisher. The event does not start any of these jobs.
struct EventCause {
  std::set<std::string> job_ids;
  /// For a run that the event starts: the number of events in the chain of runs that led to it.
  int depth = 0;
  std::string run_id{};  ///< the run whose agent caused the event; its job is also a cause
};

/// Published when events of other nodes may have been lost. Their subscribers must read the active runs again.
struct EventsMissed {
  std::string why;
};
const Description& describe(Tag<EventsMissed>);

}  // namespace agw
