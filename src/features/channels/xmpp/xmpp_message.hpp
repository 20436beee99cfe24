#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "features/channels/messenger.hpp"
#include "features/channels/xmpp/xmpp_rooms.hpp"
#include "io/xmpp/xmpp_element.hpp"

namespace agw {

/// The message of a person in a stanza; nullopt for everything else: notices, corrections (XEP-0308), carbon copies
/// (XEP-0280) from anyone, encrypted messages, and messages in a room that do not begin with the channel's name.
/// `account` is the channel's own. Example: src/features/channels/xmpp/xmpp_message_test.cpp:
/// XmppMessage.IsWhatAPersonSays
std::optional<ReceivedMessage> xmpp_message(const XmppElement& stanza, std::string_view account, const XmppRooms& rooms,
                                            ChannelThreads threads);

/// Whether a stanza has a message that only an encrypting client can read (XEP-0384).
bool is_encrypted(const XmppElement& stanza);

/// The stanza that sends a message. An unfinished one is followed by the state `composing` (XEP-0085). `file_url`:
/// where the message's file is (XEP-0066), if it has one.
std::string xmpp_stanza(const OutgoingMessage& message, std::string_view file_url = {});

/// Why a stanza was not delivered, from the error that came back.
std::string xmpp_error(const XmppElement& stanza);

}  // namespace agw
