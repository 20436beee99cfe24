#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "io/xmpp/xmpp_element.hpp"

namespace agw {

/// The rooms (XEP-0045) of a channel, and the accounts of the nicknames in them.
class XmppRooms {
public:
  /// `addresses` are those of the rooms, in lower case; `account` is the channel's address.
  XmppRooms(std::set<std::string, std::less<>> addresses, std::string_view account);

  /// The stanzas that enter all rooms. They request no history, which does not show the account of a nickname.
  std::string enter();
  /// The stanzas that enter the rooms in which the channel is not, except those from which people have removed it.
  std::string enter_again();
  bool is_outside() const { return !outside_.empty(); }
  /// Updates the people of a room from a presence. Returns why the room cannot be used, for people; empty if it can.
  std::string learn(const XmppElement& presence);

  bool contains(std::string_view room) const { return nicknames_.contains(room); }
  /// The account of the person with that nickname; nullopt if the room does not disclose it.
  std::optional<std::string> person(std::string_view room, std::string_view nickname) const;
  /// The number of people in the room, with the channel.
  std::size_t people(std::string_view room) const;
  /// The channel's nickname in the room.
  std::string_view own_nickname(std::string_view room) const;

private:
  using People = std::map<std::string, std::string, std::less<>>;  ///< accounts by nickname

  std::string entering(const std::string& room) const;

  const std::string default_nickname_;
  std::set<std::string, std::less<>> outside_;                 ///< rooms that were not entered, or left
  std::map<std::string, std::string, std::less<>> nicknames_;  ///< the channel's nicknames, by room
  std::map<std::string, People, std::less<>> people_;          ///< by room
};

}  // namespace agw
