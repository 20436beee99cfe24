#include "features/extensions/triggers.hpp"

#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/containers.hpp"
#include "base/cron.hpp"
#include "base/json/describe.hpp"
#include "base/json/json_values.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(CronTrigger, (), (expression, timezone))
const Description& describe(Tag<CronTrigger>) { return description_of<CronTrigger>("CronTrigger"); }

BOOST_DESCRIBE_STRUCT(EventTrigger, (), (event, filter))
const Description& describe(Tag<EventTrigger>) { return description_of<EventTrigger>("EventTrigger"); }

BOOST_DESCRIBE_STRUCT(WebhookTrigger, (), (secret))
const Description& describe(Tag<WebhookTrigger>) { return description_of<WebhookTrigger>("WebhookTrigger"); }

namespace {

template <DescribedStruct T>
T read(const json::object& definition, const std::string& path, Problems& problems) {
  T trigger;
  read_described(definition, describe(Tag<T>{}), &trigger, path + ".", problems);
  return trigger;
}

CronTrigger read_cron(const json::object& definition, const std::string& path, Problems& problems) {
  const auto before = problems.size();
  auto trigger = read<CronTrigger>(definition, path, problems);
  if (problems.size() > before) return trigger;
  if (const auto problem = cron_problem(trigger.expression)) {
    problems.push_back({path + ".expression", path + ".expression must be a cron expression: " + *problem});
  }
  if (trigger.timezone && !TimeZone::named(*trigger.timezone)) {
    problems.push_back({path + ".timezone", path + ".timezone must be an IANA time zone such as Europe/Berlin"});
  }
  return trigger;
}

/// The events that triggers can name. Those of signals begin with `signal.`.
constexpr std::string_view event_names[] = {"extension.created", "extension.updated", "extension.deleted",
                                            "thread.created",    "turn.created",      "proposal.created",
                                            "proposal.applied",  "proposal.rejected", "job.completed",
                                            "job.failed",        "gateway.started"};
constexpr std::string_view signal_event = "signal.";

bool is_event(std::string_view name) {
  const bool is_of_signal = name.starts_with(signal_event) && name.size() > signal_event.size();
  return is_of_signal || contains(event_names, name);
}

EventTrigger read_event(const json::object& definition, const std::string& path, Problems& problems) {
  const auto before = problems.size();
  auto trigger = read<EventTrigger>(definition, path, problems);
  if (problems.size() == before && !is_event(trigger.event)) {
    problems.push_back({path + ".event",
                        fmt::format("{}.event must be one of {}, signal.<kind>", path, fmt::join(event_names, ", "))});
  }
  return trigger;
}

}  // namespace

Trigger read_trigger(const json::object& definition, const std::string& path, Problems& problems) {
  const auto type = string_member(definition, "type");
  if (type == "cron") return read_cron(definition, path, problems);
  if (type == "event") return read_event(definition, path, problems);
  if (type == "webhook") return read<WebhookTrigger>(definition, path, problems);
  problems.push_back({path + ".type", path + ".type must be one of cron, event, webhook"});
  return {};
}

}  // namespace agw
