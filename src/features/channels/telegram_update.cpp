// Reads the updates of Telegram's Bot API.

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "features/channels/telegram.hpp"

namespace agw {

namespace {

/// An id as text; the API has numbers.
std::string id_in(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_int64() ? std::to_string(value->get_int64()) : std::string();
}

std::string name_of(const json::object& user) {
  auto name = string_or_empty(user, "first_name");
  if (const auto last = string_or_empty(user, "last_name"); !last.empty()) name += " " + last;
  return name.empty() ? string_or_empty(user, "username") : name;
}

ReceivedFile file_of(const json::object& file, std::string_view name, std::string_view mime) {
  const auto own_name = string_or_empty(file, "file_name");
  const auto own_mime = string_or_empty(file, "mime_type");
  return {.id = string_or_empty(file, "file_id"),
          .name = own_name.empty() ? std::string(name) : own_name,
          .mime = own_mime.empty() ? std::string(mime) : own_mime};
}

/// The files of a message. Of a photo, which has several sizes, the largest.
std::vector<ReceivedFile> files_of(const json::object& message) {
  std::vector<ReceivedFile> files;
  if (const auto* sizes = array_member(message, "photo"); sizes && !sizes->empty() && sizes->back().is_object()) {
    files.push_back(file_of(sizes->back().get_object(), "photo.jpg", "image/jpeg"));
  }
  struct Kind {
    std::string_view member, name, mime;
  };
  for (const auto& kind : {Kind{"document", "document", "application/octet-stream"},
                           Kind{"voice", "voice.ogg", "audio/ogg"}, Kind{"audio", "audio.mp3", "audio/mpeg"},
                           Kind{"video", "video.mp4", "video/mp4"}, Kind{"video_note", "video.mp4", "video/mp4"}}) {
    if (const auto* file = object_member(message, kind.member)) files.push_back(file_of(*file, kind.name, kind.mime));
  }
  std::erase_if(files, [](const ReceivedFile& file) { return file.id.empty(); });
  return files;
}

/// The content of other kinds of messages, as text.
std::string other_content(const json::object& message) {
  if (const auto* location = object_member(message, "location")) return "Location: " + to_json(*location);
  if (const auto* contact = object_member(message, "contact")) return "Contact: " + to_json(*contact);
  if (const auto* sticker = object_member(message, "sticker")) return string_or_empty(*sticker, "emoji");
  return {};
}

ChatPlace place_of(const json::object& message, ChannelThreads threads) {
  const auto chat = object_or_empty(message, "chat");
  ChatPlace place{.chat = id_in(chat, "id"), .topic = {}, .is_group = string_or_empty(chat, "type") != "private"};
  if (threads == ChannelThreads::topic && is_true(message, "is_topic_message")) {
    place.topic = id_in(message, "message_thread_id");
  }
  return place;
}

}  // namespace

std::optional<ReceivedMessage> telegram_message(const json::object& update, ChannelThreads threads) {
  ReceivedMessage received{
      .update = id_in(update, "update_id"), .place = {}, .message = {}, .sender = {}, .sender_name = {}, .text = {}};
  const auto* press = object_member(update, "callback_query");
  const auto* message = object_member(press ? *press : update, "message");
  const auto from = object_or_empty(press ? *press : object_or_empty(update, "message"), "from");
  received.sender = id_in(from, "id");
  received.sender_name = name_of(from);
  if (message) {
    received.place = place_of(*message, threads);
    received.message = id_in(*message, "message_id");
  }
  if (press) {
    received.press = string_or_empty(*press, "id");
    received.button = string_or_empty(*press, "data");
    return received.press.empty() ? std::nullopt : std::optional(std::move(received));
  }
  if (!message || received.sender.empty() || received.place.chat.empty()) return std::nullopt;
  received.text = string_or_empty(*message, "text");
  if (received.text.empty()) received.text = string_or_empty(*message, "caption");
  if (received.text.empty()) received.text = other_content(*message);
  received.files = files_of(*message);
  // A service message, such as a member who joined.
  if (received.text.empty() && received.files.empty()) return std::nullopt;
  return received;
}

}  // namespace agw
