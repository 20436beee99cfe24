#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "features/channels/messenger.hpp"
#include "features/channels/xmpp/xmpp_rooms.hpp"
#include "io/xmpp/xmpp_element.hpp"

namespace agw {

/// A message of a person, from a stanza that the server passed on; nullopt for everything else: notices, corrections
/// (XEP-0308), copies of messages (XEP-0280) whoever sends them, encrypted messages, and what is said in a room without
/// the channel's name before it. `account` is the channel's own.
/// Example: src/features/channels/xmpp/xmpp_message_test.cpp: XmppMessage.IsWhatAPersonSays
std::optional<ReceivedMessage> xmpp_message(const XmppElement& stanza, std::string_view account, const XmppRooms& rooms,
                                            ChannelThreads threads);

/// Whether a stanza has a message that only an encrypting client can read (XEP-0384).
bool is_encrypted(const XmppElement& stanza);

/// The stanza that sends a message. One that is unfinished is followed by the notice that more is coming (XEP-0085).
std::string xmpp_stanza(const OutgoingMessage& message);

/// Why a stanza was not delivered, from the error that came back.
std::string xmpp_error(const XmppElement& stanza);

}  // namespace agw
