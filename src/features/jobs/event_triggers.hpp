#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "features/events/hub.hpp"
#include "features/extensions/types.hpp"

namespace agw {

/// Which jobs wait for which events. What the hub carries is heard there, and only while somebody waits for it; what it
/// does not is told by `tell`.
class EventTriggers : private Reader {
public:
  /// A job's trigger matches an event. On the loop; must not block and must not throw.
  using OnEvent = std::function<void(const std::string& job_id, std::string_view event, const json::object& record,
                                     const EventCause& cause)>;

  EventTriggers(Hub& hub, OnEvent on_event);

  void arm(const std::string& job_id, EventTrigger trigger);
  void disarm(const std::string& job_id);

  /// An event has happened. `record` makes its record, if anybody waits for it.
  void tell(std::string_view event, const std::function<json::object()>& record, const EventCause& cause = {});

private:
  void deliver(const SharedEvent& event) override;
  bool awaited(std::string_view event) const;

  Hub& hub_;
  OnEvent on_event_;
  std::map<std::string, EventTrigger, std::less<>> by_job_;
  std::optional<Hub::Listening> listening_;
};

/// Whether each member of the filter equals that of the record.
bool matches(const std::optional<json::object>& filter, const json::object& record);

}  // namespace agw
