#include "features/jobs/event_triggers.hpp"

#include <algorithm>
#include <vector>

#include "base/json_equal.hpp"
#include "base/json_reading.hpp"
#include "base/text_of.hpp"

namespace agw {

namespace {

/// A kind of the hub's messages: the member that holds its record, and the event that a record stands for.
struct HubKind {
  std::string_view type;
  std::string_view record;
  std::string_view events;  ///< what all its events begin with
  std::string (*event)(const json::object& record);
};

constexpr HubKind hub_kinds[] = {
    {"turn-created", "turn", "turn.", [](const json::object&) { return std::string("turn.created"); }},
    {"proposal-created", "proposal", "proposal.", [](const json::object&) { return std::string("proposal.created"); }},
    {"proposal-decided", "proposal", "proposal.",
     [](const json::object& proposal) { return "proposal." + text_of(proposal, "status"); }},
    {"signal", "signal", "signal.", [](const json::object& signal) { return "signal." + text_of(signal, "kind"); }},
};

}  // namespace

bool matches(const std::optional<json::object>& filter, const json::object& record) {
  if (!filter) return true;
  return std::ranges::all_of(*filter, [&](const auto& wanted) {
    const auto* member = record.if_contains(wanted.key());
    return member && equal_by_value(*member, wanted.value());
  });
}

EventTriggers::EventTriggers(Hub& hub, OnEvent on_event) : hub_(hub), on_event_(std::move(on_event)) {}

void EventTriggers::arm(const std::string& job_id, EventTrigger trigger) {
  by_job_.insert_or_assign(job_id, std::move(trigger));
  if (!listening_) listening_.emplace(hub_, static_cast<Reader&>(*this));
}

void EventTriggers::disarm(const std::string& job_id) {
  by_job_.erase(job_id);
  if (by_job_.empty()) listening_.reset();
}

void EventTriggers::tell(std::string_view event, const std::function<json::object()>& record, const EventCause& cause) {
  std::vector<std::string> jobs;
  std::optional<json::object> made;
  for (const auto& [job_id, trigger] : by_job_) {
    if (trigger.event != event) continue;
    if (!made) made = record();
    if (matches(trigger.filter, *made)) jobs.push_back(job_id);
  }
  for (const auto& job_id : jobs) on_event_(job_id, event, *made, cause);
}

bool EventTriggers::awaited(std::string_view events) const {
  return std::ranges::any_of(by_job_, [&](const auto& armed) { return armed.second.event.starts_with(events); });
}

void EventTriggers::deliver(const SharedEvent& event) {
  const auto* kind = std::ranges::find(hub_kinds, event->type, &HubKind::type);
  if (kind == std::end(hub_kinds) || !awaited(kind->events)) return;
  const auto message = parse_stored_json(event->text);
  const auto* record = message.is_object() ? message.get_object().if_contains(kind->record) : nullptr;
  if (!record || !record->is_object()) return;
  tell(kind->event(record->get_object()), [record] { return record->get_object(); }, event->cause);
}

}  // namespace agw
