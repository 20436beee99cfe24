#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "io/xmpp/xmpp_element.hpp"

namespace agw {

/// The rooms (XEP-0045) that a channel is in, and the accounts of the nicknames there.
class XmppRooms {
public:
  /// `addresses` of the rooms, in lower case; `account` is the channel's own.
  XmppRooms(std::set<std::string, std::less<>> addresses, std::string_view account);

  /// The stanzas that enter all rooms. They request no history: it does not say which account used a
  /// nickname.
  std::string enter();
  /// Updates the people of a room from a presence. Returns why the room cannot be used, for people; empty if it can.
  std::string learn(const XmppElement& presence);

  bool contains(std::string_view room) const { return nicknames_.contains(room); }
  /// The account of the person with that nickname; nullopt if the room does not tell.
  std::optional<std::string> person(std::string_view room, std::string_view nickname) const;
  /// The channel's own name in the room.
  std::string_view own_nickname(std::string_view room) const;

private:
  using People = std::map<std::string, std::string, std::less<>>;  ///< accounts by nickname

  const std::string usual_nickname_;
  std::map<std::string, std::string, std::less<>> nicknames_;  ///< the channel's own, by room
  std::map<std::string, People, std::less<>> people_;          ///< by room
};

}  // namespace agw
