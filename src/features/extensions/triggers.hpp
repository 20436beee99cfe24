#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/json/described.hpp"

namespace agw {

/// Fires at the times of a cron expression.
struct CronTrigger {
  std::string expression;
  std::optional<std::string> timezone;  ///< an IANA name; the host's where omitted
};
const Description& describe(Tag<CronTrigger>);

/// Fires when the gateway tells of an event, such as `turn.created`.
struct EventTrigger {
  std::string event;
  std::optional<json::object> filter;  ///< each member must equal that of the event's record
};
const Description& describe(Tag<EventTrigger>);

/// Fires on `POST /hooks/:name`.
struct WebhookTrigger {
  std::optional<std::string> secret;  ///< of the signature that is then demanded
};
const Description& describe(Tag<WebhookTrigger>);

using Trigger = std::variant<CronTrigger, EventTrigger, WebhookTrigger>;

/// Reads a trigger definition, whose `type` says which it is. What is wrong with it is added to `problems`, with paths
/// that begin with `path`: missing members, other types, an expression that never fires, an unknown zone, no event. The
/// result counts only where there is nothing.
Trigger read_trigger(const json::object& definition, const std::string& path, Problems& problems);

}  // namespace agw
