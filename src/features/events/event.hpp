#pragma once

#include <memory>
#include <string>

#include "features/events/types.hpp"

namespace agw {

/// One event of the gateway, ready to be sent: serialised once and shared by all its readers.
struct Event {
  std::string type;       ///< `text-delta`, `extension-changed` …
  std::string thread_id;  ///< empty for gateway-wide kinds
  std::string text;       ///< the whole JSON message
  EventCause cause{};
};
using SharedEvent = std::shared_ptr<const Event>;

}  // namespace agw
