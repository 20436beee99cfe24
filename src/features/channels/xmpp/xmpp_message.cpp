#include "features/channels/xmpp/xmpp_message.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/id.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "features/channels/markup.hpp"
#include "io/http/web_url.hpp"
#include "io/xmpp/xmpp_address.hpp"

namespace agw {

namespace {

constexpr std::string_view client = "jabber:client";
constexpr std::string_view stanza_ids = "urn:xmpp:sid:0";
constexpr std::string_view out_of_band = "jabber:x:oob";
constexpr std::size_t max_topic = 255;
constexpr std::size_t max_links = 10;

bool is_correction(const XmppElement& stanza) { return stanza.child("replace", "urn:xmpp:message-correct:0"); }

constexpr std::string_view reply_xmlns = "urn:xmpp:reply:0";

/// The position of the character with that number.
std::size_t position_of(std::string_view text, std::string_view number) {
  std::size_t left = 0;
  std::from_chars(number.data(), number.data() + number.size(), left);
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool begins_character = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins_character && left-- == 0) break;
  }
  return at;
}

/// Quoted text without the marks of a quotation.
std::string without_marks(std::string_view text) {
  std::string content;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with('>')) line.remove_prefix(line.starts_with("> ") ? 2 : 1);
    content += fmt::format("{}{}", content.empty() ? "" : "\n", line);
  }
  return content;
}

/// Moves the quotation for clients without replies (XEP-0461) from the text to `replied_to`. Returns false if all of
/// the text is only for clients that do not support something else, such as reactions or retractions (XEP-0428).
bool take_fallback(const XmppElement& stanza, ReceivedMessage& message) {
  for (const auto& one : stanza.children) {
    if (one.name == "retract" || one.name == "reactions") return false;
    if (one.name != "fallback" || one.xmlns != "urn:xmpp:fallback:0") continue;
    const auto* range = one.child("body", one.xmlns);
    const auto* reply = stanza.child("reply", reply_xmlns);
    if (one.attribute("for") == reply_xmlns && range && reply) {
      const auto begin = position_of(message.text, range->attribute("start"));
      const auto end = std::max(begin, position_of(message.text, range->attribute("end")));
      const auto author =
          message.place.is_group ? xmpp_resource(reply->attribute("to")) : without_resource(reply->attribute("to"));
      add_quoted(message,
                 {.author = std::string(author), .text = without_marks(message.text.substr(begin, end - begin))}, {});
      message.text.erase(begin, end - begin);
    } else if (!range && message.files.empty()) {
      return false;
    }
  }
  return true;
}

/// Whether this is a message from a room's history, whose sender cannot be verified.
bool is_delayed(const XmppElement& stanza) { return stanza.child("delay", "urn:xmpp:delay"); }

/// The id that the server assigned to the message; otherwise the client's id, which the same client can reuse.
std::string update_of(const XmppElement& stanza, std::string_view server) {
  for (const auto& one : stanza.children) {
    const bool is_servers = one.name == "stanza-id" && one.xmlns == stanza_ids && one.attribute("by") == server;
    if (is_servers && !one.attribute("id").empty()) return std::string(one.attribute("id"));
  }
  const auto id = stanza.attribute("id");
  if (id.empty()) return new_id();
  return id_of_key(stanza.attribute("from"), fmt::format("{}\n{}", id, stanza.text_of("body", client)));
}

/// The text after the nickname that it begins with: `agent: …`, `@agent …`. nullopt if it does not begin with the
/// nickname.
std::optional<std::string_view> addressed_to(std::string_view nickname, std::string_view text) {
  if (text.starts_with('@')) text.remove_prefix(1);
  if (lower_case(text.substr(0, nickname.size())) != lower_case(nickname)) return std::nullopt;
  text.remove_prefix(nickname.size());
  if (!text.empty() && std::string_view(" ,:\n").find(text[0]) == text.npos) return std::nullopt;
  const auto begin = text.find_first_not_of(" ,:\n");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

std::string name_of_file(std::string_view url) {
  const auto path = url.substr(0, url.find_first_of("?#"));
  const auto name = path.substr(path.rfind('/') + 1);
  return name.empty() ? "file" : std::string(name);
}

void add_files(const XmppElement& stanza, ReceivedMessage& message) {
  for (const auto& one : stanza.children) {
    if (one.name != "x" || one.xmlns != out_of_band || message.files.size() == max_links) continue;
    const std::string url(one.text_of("url", out_of_band));
    if (url.empty()) continue;
    message.files.push_back({.id = url, .name = name_of_file(url), .mime = "application/octet-stream"});
    // Clients repeat the address in the text, for receivers that do not support files.
    if (message.text == url) message.text = one.text_of("desc", out_of_band);
  }
}

/// Sets place, sender and text. Returns whether a person addressed the channel.
bool read_room_message(const XmppElement& stanza, const XmppRooms& rooms, ReceivedMessage& message) {
  const auto from = stanza.attribute("from");
  const auto room = without_resource(from);
  const auto nickname = xmpp_resource(from);
  const auto person = rooms.person(room, nickname);
  if (!rooms.contains(room) || !person || nickname == rooms.own_nickname(room) || is_delayed(stanza)) return false;
  message.place = {.chat = std::string(room), .topic = {}, .is_group = true};
  message.sender = *person;
  message.sender_name = nickname;
  if (const auto said = addressed_to(rooms.own_nickname(room), message.text)) {
    message.text = std::string(*said);
    return true;
  }
  const auto* reply = stanza.child("reply", reply_xmlns);
  if (reply && without_resource(reply->attribute("to")) == room &&
      xmpp_resource(reply->attribute("to")) == rooms.own_nickname(room))
    return true;
  // A number may be the answer to a request of the agent.
  message.only_answers = message.text.find_first_not_of("0123456789") == message.text.npos;
  return message.only_answers || message.text.starts_with('/');
}

bool read_private_message(const XmppElement& stanza, std::string_view account, const XmppRooms& rooms,
                          ReceivedMessage& message) {
  // Rooms also relay private messages and invitations, neither of which names the sender's account.
  if (stanza.child("x", "http://jabber.org/protocol/muc#user")) return false;
  const auto sender = xmpp_account(stanza.attribute("from"));
  if (!sender || *sender == account || rooms.contains(*sender)) return false;
  message.place = {.chat = *sender, .topic = {}, .is_group = false};
  message.sender = *sender;
  message.sender_name = *sender;
  return true;
}

/// Keys are exchanged in messages without content.
bool has_encrypted_content(const XmppElement& stanza) {
  return std::ranges::any_of(stanza.children, [](const XmppElement& one) {
    const auto has_payload = [](const XmppElement& part) { return part.name == "payload"; };
    return one.name == "encryption" || (one.name == "encrypted" && std::ranges::any_of(one.children, has_payload));
  });
}

std::string_view stanza_type(const ChatPlace& to) { return to.is_group ? "groupchat" : "chat"; }

/// Clients show a file only if the text is exactly its address.
std::string outgoing_text(const OutgoingMessage& message, std::string_view file_url) {
  if (!file_url.empty()) return fmt::format("{}{}{}", file_url, message.text.empty() ? "" : "\n\n", message.text);
  return message.is_markdown ? styled_text(message.text) : message.text;
}

}  // namespace

bool is_encrypted(const XmppElement& stanza) {
  return std::ranges::any_of(stanza.children, [](const XmppElement& one) {
    return one.name == "encrypted" || (one.name == "encryption" && one.xmlns == "urn:xmpp:eme:0");
  });
}

std::optional<ReceivedMessage> xmpp_message(const XmppElement& stanza, std::string_view account, const XmppRooms& rooms,
                                            ChannelThreads threads) {
  const auto type = stanza.attribute("type");
  const bool is_group = type == "groupchat";
  if (!is_group && !type.empty() && type != "chat" && type != "normal") return std::nullopt;
  if (is_correction(stanza)) return std::nullopt;
  ReceivedMessage message{.update = {},
                          .place = {},
                          .message = std::string(stanza.attribute("id")),
                          .sender = {},
                          .sender_name = {},
                          .text = std::string(stanza.text_of("body", client))};
  if (is_encrypted(stanza)) {
    if (is_group || !has_encrypted_content(stanza)) return std::nullopt;
    message.text.clear();
    message.unreadable = "I cannot read encrypted messages. Turn encryption (OMEMO) off in this chat.";
  }
  message.place.is_group = is_group;
  add_files(stanza, message);
  if (message.unreadable.empty() && !take_fallback(stanza, message)) return std::nullopt;
  const bool is_for_channel =
      is_group ? read_room_message(stanza, rooms, message) : read_private_message(stanza, account, rooms, message);
  const bool has_content = !is_blank(message.text) || !message.files.empty() || !message.unreadable.empty();
  if (!is_for_channel || !has_content) return std::nullopt;
  message.update = update_of(stanza, is_group ? std::string_view(message.place.chat) : account);
  if (threads == ChannelThreads::topic) message.place.topic = utf8_prefix(stanza.text_of("thread", client), max_topic);
  return message;
}

std::string xmpp_stanza(const OutgoingMessage& message, std::string_view file_url) {
  const auto to = xml_escaped(message.to.chat);
  const auto id = xml_escaped(message.id);
  const auto text = outgoing_text(message, file_url);
  auto stanza = fmt::format("<message to='{}' type='{}' id='{}'><body>{}</body>", to, stanza_type(message.to), id,
                            xml_escaped(text));
  if (!file_url.empty()) stanza += fmt::format("<x xmlns='{}'><url>{}</url></x>", out_of_band, xml_escaped(file_url));
  if (!message.to.topic.empty()) stanza += fmt::format("<thread>{}</thread>", xml_escaped(message.to.topic));
  if (!message.edits.empty())
    stanza += fmt::format("<replace id='{}' xmlns='urn:xmpp:message-correct:0'/>", xml_escaped(message.edits));
  if (!message.is_markdown) stanza += "<unstyled xmlns='urn:xmpp:styling:0'/>";
  if (!message.to.is_group) stanza += "<active xmlns='http://jabber.org/protocol/chatstates'/>";
  stanza += fmt::format("<origin-id xmlns='{}' id='{}'/></message>", stanza_ids, id);
  if (message.is_unfinished && !message.to.is_group) stanza += xmpp_typing(message.to, true);
  return stanza;
}

std::string xmpp_typing(const ChatPlace& to, bool is_typing) {
  return fmt::format(
      "<message to='{}' type='{}'><{} xmlns='http://jabber.org/protocol/chatstates'/>"
      "<no-store xmlns='urn:xmpp:hints'/></message>",
      xml_escaped(to.chat), stanza_type(to), is_typing ? "composing" : "active");
}

std::string xmpp_error(const XmppElement& stanza) {
  const auto* error = stanza.child("error", client);
  if (!error) return "the server refused it";
  const auto text = error->text_of("text", "urn:ietf:params:xml:ns:xmpp-stanzas");
  const auto condition = error->children.empty() ? std::string_view("no reason") : error->children.front().name;
  return text.empty() ? fmt::format("the server refused it: {}", condition)
                      : fmt::format("the server refused it: {} ({})", condition, shortened(text, 200));
}

}  // namespace agw
