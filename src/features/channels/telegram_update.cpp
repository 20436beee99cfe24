// Reads the updates of Telegram's Bot API.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/json/json_values.hpp"
#include "features/channels/markup.hpp"
#include "features/channels/telegram.hpp"

namespace agw {

namespace {

/// Telegram's apps send a text that is too long for one message as several ones, of about this length in UTF-16 code
/// units: they split between words.
constexpr std::size_t min_split_text = 4000;
/// Seconds between the parts of a text.
constexpr std::uint64_t max_gap = 1;

/// An id as text; the API has numbers.
std::string id_in(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_int64() ? std::to_string(value->get_int64()) : std::string();
}

/// In seconds.
std::uint64_t sent_at(const json::object& message) {
  const auto* date = message.if_contains("date");
  return date && date->is_int64() ? static_cast<std::uint64_t>(date->get_int64()) : 0;
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

struct Markup {
  std::string before;
  std::string after;
};

/// The Markdown of an entity without which its text loses its meaning: addresses behind words, and code.
std::optional<Markup> markup_of(const json::object& entity) {
  const auto type = string_or_empty(entity, "type");
  if (type == "text_link") return Markup{"[", "](" + string_or_empty(entity, "url") + ")"};
  if (type == "code") return Markup{"`", "`"};
  if (type == "pre") return Markup{"```" + string_or_empty(entity, "language") + "\n", "\n```"};
  return std::nullopt;
}

/// A non-negative number, or 0.
std::size_t size_in(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_int64() ? static_cast<std::size_t>(std::max<std::int64_t>(value->get_int64(), 0)) : 0;
}

/// Inserts the markup, whose positions are in UTF-16 code units (https://core.telegram.org/bots/api#messageentity).
std::string with_markup(const std::string& text, const json::array* entities) {
  std::string result;
  std::size_t copied = 0;
  for (const auto& value : entities ? *entities : json::array()) {
    const auto* entity = value.if_object();
    const auto markup = entity ? markup_of(*entity) : std::nullopt;
    if (!markup) continue;
    const auto begin = utf16_prefix(text, size_in(*entity, "offset")).size();
    const auto marked = utf16_prefix(std::string_view(text).substr(begin), size_in(*entity, "length"));
    // Telegram sorts them; code contains no other entity.
    if (begin < copied || marked.empty()) continue;
    result += text.substr(copied, begin - copied) + markup->before + std::string(marked) + markup->after;
    copied = begin + marked.size();
  }
  return result + text.substr(copied);
}

std::string text_of(const json::object& message) {
  auto text = with_markup(string_or_empty(message, "text"), array_member(message, "entities"));
  if (text.empty()) text = with_markup(string_or_empty(message, "caption"), array_member(message, "caption_entities"));
  return text.empty() ? other_content(message) : text;
}

/// Who sent the message that this one replies to or forwards: a person, or a channel or group as a whole.
std::string author_of(const json::object& message) {
  auto name = name_of(object_or_empty(message, "from"));
  return name.empty() ? string_or_empty(object_or_empty(message, "sender_chat"), "title") : name;
}

/// The author of a message in another chat: https://core.telegram.org/bots/api#messageorigin
std::string author_of_origin(const json::object& origin) {
  auto name = name_of(object_or_empty(origin, "sender_user"));
  if (name.empty()) name = string_or_empty(origin, "sender_user_name");
  for (const auto* chat : {"sender_chat", "chat"}) {
    if (name.empty()) name = string_or_empty(object_or_empty(origin, chat), "title");
  }
  return name.empty() ? "somebody" : name;
}

/// Adds what the message replies to. In a group, its files too: in a private chat, the agent has them already.
void add_replied_to(const json::object& message, ReceivedMessage& received) {
  // The part that the person has selected, if they have.
  auto text = string_or_empty(object_or_empty(message, "quote"), "text");
  const auto* original = object_member(message, "reply_to_message");
  const auto* elsewhere = object_member(message, "external_reply");
  if (elsewhere && !text.empty()) {
    received.replied_to = {.author = author_of_origin(object_or_empty(*elsewhere, "origin")), .text = std::move(text)};
  }
  if (!original) return;
  const bool is_of_bot = is_true(object_or_empty(*original, "from"), "is_bot");
  auto files = received.place.is_group && !is_of_bot ? files_of(*original) : std::vector<ReceivedFile>();
  if (text.empty()) text = text_of(*original);
  // A service message, such as the one that began a topic, has neither text nor files.
  add_quoted(received, {.author = author_of(*original), .text = std::move(text)}, std::move(files));
}

/// A group that became a supergroup has another id: https://core.telegram.org/bots/api#message
std::optional<ReceivedMessage> moved_chat(const json::object& message, const ReceivedMessage& received) {
  auto moved = received;
  if (moved.moved_from = id_in(message, "migrate_from_chat_id"); !moved.moved_from.empty()) return moved;
  moved.moved_from = std::exchange(moved.place.chat, id_in(message, "migrate_to_chat_id"));
  return moved.place.chat.empty() ? std::nullopt : std::optional(std::move(moved));
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
  if (auto moved = moved_chat(*message, received)) return moved;
  received.text = text_of(*message);
  if (const auto* origin = object_member(*message, "forward_origin"))
    received.forwarded_from = author_of_origin(*origin);
  received.files = files_of(*message);
  // A service message, such as a member who joined.
  if (received.text.empty() && received.files.empty()) return std::nullopt;
  add_replied_to(*message, received);
  return received;
}

bool may_continue(const json::object& update) {
  const auto* message = object_member(update, "message");
  return message && (message->contains("media_group_id") ||
                     utf16_length(string_member(*message, "text").value_or("")) >= min_split_text);
}

bool continues(const json::object& update, const json::object& last) {
  const auto* found = object_member(update, "message");
  const auto* found_before = object_member(last, "message");
  if (!found || !found_before) return false;
  const auto& message = *found;
  const auto& before = *found_before;
  const auto is_same = [&](std::string_view member) {
    const auto* value = message.if_contains(member);
    const auto* value_before = before.if_contains(member);
    return value ? value_before && *value == *value_before : !value_before;
  };
  const auto id_of = [](const json::object& object, std::string_view member) {
    const auto* named = object_member(object, member);
    return named ? id_in(*named, "id") : std::string();
  };
  if (!may_continue(last) || id_of(message, "chat") != id_of(before, "chat") ||
      id_of(message, "from") != id_of(before, "from") || !is_same("message_thread_id") || !is_same("media_group_id"))
    return false;
  if (message.contains("media_group_id")) return true;
  const auto text = string_or_empty(message, "text");
  return !text.empty() && !text.starts_with('/') && sent_at(message) - sent_at(before) <= max_gap;
}

void append(ReceivedMessage& message, ReceivedMessage rest) {
  if (!message.text.empty() && !rest.text.empty()) message.text += '\n';
  message.text += rest.text;
  std::ranges::move(rest.files, std::back_inserter(message.files));
}

}  // namespace agw
