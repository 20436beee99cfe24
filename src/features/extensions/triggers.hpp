#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/json/described.hpp"

namespace agw {

/// Fires at the times of a cron expression.
struct CronTrigger {
  std::string expression;
  std::optional<std::string> timezone;  ///< an IANA name; default: the host's
};
const Description& describe(Tag<CronTrigger>);

/// Fires when an event such as `turn.created` is published.
struct EventTrigger {
  std::string event;
  std::optional<json::object> filter;  ///< each member must equal that of the event's record
};
const Description& describe(Tag<EventTrigger>);

/// Fires on `POST /hooks/:name`.
struct WebhookTrigger {
  std::optional<std::string> secret;  ///< if set, requests must be signed with this secret
};
const Description& describe(Tag<WebhookTrigger>);

using Trigger = std::variant<CronTrigger, EventTrigger, WebhookTrigger>;

/// Reads a trigger definition, whose member `type` selects the kind. Adds errors to `problems`, with paths that begin
/// with `path`: missing members, wrong types, an expression that never fires, an unknown zone or event. The result is
/// valid only if no problem was added.
Trigger read_trigger(const json::object& definition, const std::string& path, Problems& problems);

}  // namespace agw
