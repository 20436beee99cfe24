#include "features/channels/xmpp/xmpp_rooms.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "io/xmpp/xmpp_address.hpp"

namespace agw {

namespace {

constexpr std::string_view room_user = "http://jabber.org/protocol/muc#user";
constexpr std::string_view own_presence = "110";
constexpr std::string_view stanza_errors = "urn:ietf:params:xml:ns:xmpp-stanzas";
/// Above this number, people of a room are not answered.
constexpr std::size_t max_people = 10'000;
constexpr std::size_t max_shown_error = 200;

bool has_status(const XmppElement& user, std::string_view code) {
  return std::ranges::any_of(
      user.children, [&](const XmppElement& one) { return one.name == "status" && one.attribute("code") == code; });
}

std::string condition_of(const XmppElement& stanza) {
  const auto* error = stanza.child("error", "jabber:client");
  if (!error) return "no reason is known";
  if (const auto text = error->text_of("text", stanza_errors); !text.empty()) return shortened(text, max_shown_error);
  return error->children.empty() ? "no reason is known" : error->children.front().name;
}

}  // namespace

XmppRooms::XmppRooms(std::set<std::string, std::less<>> addresses, std::string_view account)
    : default_nickname_(account.substr(0, account.find('@'))) {
  for (const auto& room : addresses) nicknames_.emplace(room, default_nickname_);
}

std::string XmppRooms::entering(const std::string& room) const {
  return fmt::format(
      "<presence to='{}'><x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x></presence>",
      xml_escaped(fmt::format("{}/{}", room, own_nickname(room))));
}

std::string XmppRooms::enter() {
  people_.clear();
  for (auto& [room, nickname] : nicknames_) {
    nickname = default_nickname_;
    outside_.insert(room);
  }
  return enter_again();
}

std::string XmppRooms::enter_again() {
  std::string stanzas;
  for (const auto& room : outside_) {
    people_.erase(room);
    stanzas += entering(room);
  }
  return stanzas;
}

std::string XmppRooms::learn(const XmppElement& presence) {
  const auto from = presence.attribute("from");
  const std::string room(without_resource(from));
  const std::string nickname(xmpp_resource(from));
  if (!contains(room)) return {};
  if (presence.attribute("type") == "error") {
    // Somebody else has the nickname.
    const auto* error = presence.child("error", "jabber:client");
    if (error && error->child("conflict", stanza_errors) && outside_.contains(room)) nicknames_[room] += '_';
    return fmt::format("cannot enter the room {}: {}", room, condition_of(presence));
  }
  const auto* user = presence.child("x", room_user);
  const auto* item = user ? user->child("item", room_user) : nullptr;
  const bool is_own = user && has_status(*user, own_presence);
  auto& people = people_[room];
  people.erase(nickname);
  if (presence.attribute("type") == "unavailable") {
    const auto renamed = item ? item->attribute("nick") : std::string_view();
    if (!is_own) return {};
    if (renamed.empty()) {
      // A person does not want the channel there. 333: the server had a problem.
      const bool is_wanted = has_status(*user, "333") || (!has_status(*user, "301") && !has_status(*user, "307"));
      if (is_wanted) outside_.insert(room);
      return fmt::format("is no longer in the room {}", room);
    }
    nicknames_[room] = renamed;
    return {};
  }
  if (is_own) {
    nicknames_[room] = nickname;
    outside_.erase(room);
  }
  const auto account = item ? xmpp_account(item->attribute("jid")) : std::nullopt;
  if (account && people.size() < max_people) people.emplace(nickname, *account);
  if (is_own && !account)
    return fmt::format("cannot know who speaks in the room {}: it hides its people's addresses", room);
  return {};
}

std::optional<std::string> XmppRooms::person(std::string_view room, std::string_view nickname) const {
  const auto people = people_.find(room);
  if (people == people_.end()) return std::nullopt;
  const auto found = people->second.find(nickname);
  return found == people->second.end() ? std::nullopt : std::optional(found->second);
}

std::size_t XmppRooms::people(std::string_view room) const {
  const auto found = people_.find(room);
  return found == people_.end() ? 0 : found->second.size();
}

std::string_view XmppRooms::own_nickname(std::string_view room) const {
  const auto found = nicknames_.find(room);
  return found == nicknames_.end() ? std::string_view() : found->second;
}

}  // namespace agw
