#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "features/channels/messenger.hpp"
#include "features/channels/xmpp/xmpp_rooms.hpp"
#include "io/xmpp/xmpp_element.hpp"

namespace agw {

/// The message of a person in a stanza; nullopt for everything else: notices, corrections (XEP-0308), carbon copies
/// (XEP-0280) from anyone, reactions, retractions, and messages in a room that neither begin with the channel's name
/// nor reply to it. An encrypted message of a private chat is `unreadable`. `account` is the channel's address.
/// Example: src/features/channels/xmpp/xmpp_message_test.cpp: XmppMessage.IsWhatAPersonSays
std::optional<ReceivedMessage> xmpp_message(const XmppElement& stanza, std::string_view account, const XmppRooms& rooms,
                                            ChannelThreads threads);

/// Whether a stanza contains an encrypted message (XEP-0384).
bool is_encrypted(const XmppElement& stanza);

/// The stanza that sends a message. An unfinished one is followed by the state `composing` (XEP-0085). `file_url` is
/// the address of the message's file (XEP-0066), if any.
std::string xmpp_stanza(const OutgoingMessage& message, std::string_view file_url = {});

/// The stanza that sends the state `composing` or `active` (XEP-0085).
std::string xmpp_typing(const ChatPlace& to, bool is_typing);

/// The reason for a failed delivery, from the error stanza.
std::string xmpp_error(const XmppElement& stanza);

}  // namespace agw
