#include "features/jobs/event_triggers.hpp"

#include <algorithm>
#include <vector>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"

namespace agw {

bool matches(const std::optional<json::object>& filter, const json::object& record) {
  if (!filter) return true;
  return std::ranges::all_of(*filter, [&](const auto& wanted) {
    const auto* member = record.if_contains(wanted.key());
    return member && equal_by_value(*member, wanted.value());
  });
}

void EventTriggers::arm(const std::string& job_id, EventTrigger trigger) {
  by_job_.insert_or_assign(job_id, std::move(trigger));
}

void EventTriggers::disarm(const std::string& job_id) { by_job_.erase(job_id); }

void EventTriggers::deliver(const DomainEvent& event) const {
  if (event.name.empty()) return;
  std::vector<std::string> jobs;
  std::optional<json::object> record;
  for (const auto& [job_id, trigger] : by_job_) {
    if (trigger.event != event.name) continue;
    if (!record) record = event.record.members();
    if (matches(trigger.filter, *record)) jobs.push_back(job_id);
  }
  AGW_ASSERT(jobs.empty() || record);
  for (const auto& job_id : jobs) on_event_(job_id, event, *record);
}

bool EventTriggers::awaits(std::string_view names) const {
  return std::ranges::any_of(by_job_, [&](const auto& armed) { return armed.second.event.starts_with(names); });
}

}  // namespace agw
