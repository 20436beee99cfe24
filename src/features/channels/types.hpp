#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/described.hpp"
#include "features/extensions/types.hpp"

namespace agw {

/// The supported messengers.
enum class ChannelService { telegram, matrix, email, xmpp };
std::span<const EnumName> names(Tag<ChannelService>);

/// Whether each chat has a thread, or each topic of a chat.
enum class ChannelThreads { chat, topic };
std::span<const EnumName> names(Tag<ChannelThreads>);

/// How an answer is shown while it is written: as the service's draft, as a message that is edited, or not at all.
enum class ChannelStream { draft, edit, off };
std::span<const EnumName> names(Tag<ChannelStream>);

/// The kinds of notices that the people of a channel get without asking.
enum class ChannelNotice { permission_requested, proposal_created, job_failed, signal, finish };
std::span<const EnumName> names(Tag<ChannelNotice>);

/// The definition of an `integration` of kind `channel`.
struct ChannelSettings {
  std::string id;
  std::string name;
  ChannelService service{};
  std::string token;                         ///< as in the definition: `${secret:NAME}`
  std::string address;                       ///< of a self-hosted server; if empty, the vendor's
  std::string agent_id;                      ///< id or name
  std::set<std::string, std::less<>> allow;  ///< the service's ids of the people whom the channel answers
  bool pairing = false;
  ChannelThreads threads = ChannelThreads::chat;
  ChannelStream stream = ChannelStream::draft;
  std::set<ChannelNotice> notify;
  bool is_persons = false;  ///< made by a person, so `address` may be private
  // Only for mail and XMPP.
  std::string user{};  ///< the account, if the token does not contain it
  // Only for mail.
  std::string smtp{};         ///< the server for sending; `address` is the one for reading
  std::string from{};         ///< the account's mail address, in lower case
  std::string authserv_id{};  ///< the server that verifies senders
  // Only for XMPP.
  std::set<std::string, std::less<>> rooms{};  ///< the rooms to enter; their server is trusted to name the senders

  bool operator==(const ChannelSettings&) const = default;
};
ChannelSettings channel_settings(const Extension& extension);

/// The destination of messages: a chat, and a topic in it.
struct ChatPlace {
  std::string chat;
  std::string topic;  ///< empty if none
  bool is_group = false;

  bool operator==(const ChatPlace&) const = default;
  auto operator<=>(const ChatPlace&) const = default;
};

/// Whether a channel reads messages.
enum class ChannelState { connecting, connected, failing };
std::span<const EnumName> names(Tag<ChannelState>);

/// A row of `GET /channels`.
struct ChannelStatus {
  std::string id;  ///< of the extension
  std::string name;
  ChannelService service{};
  ChannelState state = ChannelState::connecting;
  std::optional<std::string> error;  ///< why it fails, and what to do
  std::int64_t open_questions = 0;   ///< messages that are being answered or wait for an answer
  std::int64_t unsent = 0;           ///< messages that wait to be sent
  std::int64_t strangers = 0;        ///< people with a code that can still be confirmed
};
const Description& describe(Tag<ChannelStatus>);

/// The body of `POST /channels/pair`.
struct ConfirmSender {
  std::string code;  ///< the six digits that the channel has sent to a stranger
};
const Description& describe(Tag<ConfirmSender>);

/// The response to `POST /channels/pair`: the person whom the channel now answers.
struct ConfirmedSender {
  std::string channel;  ///< the extension's name
  std::string sender;   ///< the service's id
  std::string name;     ///< the display name at the service
};
const Description& describe(Tag<ConfirmedSender>);

}  // namespace agw
