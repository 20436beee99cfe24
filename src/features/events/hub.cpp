#include "features/events/hub.hpp"

namespace agw {

Hub::Listening::Listening(Hub& hub, Reader& reader)
    : hub_(hub), place_(hub.readers_.insert(hub.readers_.end(), &reader)) {}

Hub::Listening::~Listening() { hub_.readers_.erase(place_); }

void Hub::publish(Event event) {
  if (!heard()) return;
  const auto shared = std::make_shared<const Event>(std::move(event));
  // A reader that gives up while it is told takes itself out of the list.
  for (auto reader = readers_.begin(); reader != readers_.end();) (*reader++)->deliver(shared);
}

void Hub::publish_record(std::string_view type, std::string_view thread_id, std::string_view name,
                         std::string_view record, EventCause cause) {
  if (!heard()) return;
  Event event{std::string(type), std::string(thread_id), "{\"type\":", std::move(cause)};
  write_json(event.text, type);
  if (!thread_id.empty()) {
    event.text += ",\"threadId\":";
    write_json(event.text, thread_id);
  }
  event.text += ',';
  write_json(event.text, name);
  event.text += ':';
  event.text += record;
  event.text += '}';
  publish(std::move(event));
}

}  // namespace agw
