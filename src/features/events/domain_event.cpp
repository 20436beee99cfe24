#include "features/events/domain_event.hpp"

#include "base/async/assert.hpp"
#include "base/json/json.hpp"

namespace agw {

json::object RecordView::members() const {
  std::string text;
  append_to(text);
  return std::move(parse_stored_json(text).as_object());
}

void RecordView::append_to(std::string& json) const {
  AGW_ASSERT(description_);
  AGW_ASSERT(record_);
  write_described(json, *description_, record_);
}

const SharedMessage& DomainEvent::message() const {
  if (made_message) return made_message;
  if (text.empty()) {
    text = "{\"type\":";
    write_json(text, type);
    if (!thread_id.empty()) {
      text += ",\"threadId\":";
      write_json(text, thread_id);
    }
    text += ',';
    write_json(text, member);
    text += ':';
    record.append_to(text);
    text += '}';
  }
  return made_message = std::make_shared<const std::string>(std::move(text));
}

json::object DomainEvent::message_members() const { return std::move(parse_stored_json(*message()).as_object()); }

}  // namespace agw
