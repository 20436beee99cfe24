#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/json/described.hpp"
#include "features/events/types.hpp"

namespace agw {

/// How urgently a person should look at it.
enum class Severity { info, warning, critical };
std::span<const EnumName> names(Tag<Severity>);

/// A report that needs a person's attention.
struct Signal {
  std::string id;
  std::string kind;  ///< `cost-spike`, `job-failing`, `provider-errors`, `disk-low`, or a kind chosen by a client
  Severity severity = Severity::info;
  std::string message;             ///< a sentence for people
  std::optional<double> value;     ///< the measured value
  std::optional<double> baseline;  ///< the expected value
  Timestamp created_at;
};
const Description& describe(Tag<Signal>);

/// The body of `POST /signals`, and the argument of features. Only features set `cause`.
struct NewSignal {
  std::string kind;
  std::string message;
  Severity severity = Severity::info;
  std::optional<double> value;
  std::optional<double> baseline;
  EventCause cause{};
};
const Description& describe(Tag<NewSignal>);

/// The query of `GET /signals`.
struct SignalFilter {
  std::optional<std::string> kind;
  std::optional<Timestamp> since;  ///< created after
  Limit limit;
};
const Description& describe(Tag<SignalFilter>);

}  // namespace agw
