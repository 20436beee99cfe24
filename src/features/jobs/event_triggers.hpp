#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "features/events/hub.hpp"
#include "features/extensions/types.hpp"

namespace agw {

/// The event triggers of jobs.
class EventTriggers {
public:
  /// Called on the loop when a job's trigger matches an event. Must not block or throw.
  using OnEvent = std::function<void(const std::string& job_id, const DomainEvent& event, const json::object& record)>;

  explicit EventTriggers(OnEvent on_event) : on_event_(std::move(on_event)) {}

  void arm(const std::string& job_id, EventTrigger trigger);
  void disarm(const std::string& job_id);

  void deliver(const DomainEvent& event) const;
  /// Whether a trigger waits for an event whose name begins with `names`.
  bool awaits(std::string_view names) const;

private:
  OnEvent on_event_;
  std::map<std::string, EventTrigger, std::less<>> by_job_;
};

/// Whether each member of the filter equals that of the record.
bool matches(const std::optional<json::object>& filter, const json::object& record);

}  // namespace agw
