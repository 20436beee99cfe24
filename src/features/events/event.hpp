#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace agw {

/// What led to an event, as far as that is known where it is published. None of these jobs is started by it.
struct EventCause {
  std::set<std::string> job_ids;
  int depth = 0;  ///< of a run that the event starts: how many events led to it, one run after the other
};

/// One event of the gateway, ready to be sent: serialised once and shared by all its readers.
struct Event {
  std::string type;       ///< `text-delta`, `extension-changed` …
  std::string thread_id;  ///< empty for gateway-wide kinds
  std::string text;       ///< the whole JSON message
  EventCause cause{};
};
using SharedEvent = std::shared_ptr<const Event>;

}  // namespace agw
