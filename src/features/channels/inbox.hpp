#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/channels/answers.hpp"
#include "features/channels/approvals.hpp"

namespace agw {

/// Takes what was read from one channel: each message exactly once, in order. Strangers get silence or, with pairing, a
/// code to be confirmed.
class ChannelInbox {
public:
  /// Somebody who is not answered yet.
  struct Stranger {
    std::string code;
    std::string sender;
    std::string name;
    ChatPlace place;
    std::chrono::steady_clock::time_point until;
  };

  ChannelInbox(const ChannelServices& services, const ChannelSettings& settings, Messenger& messenger,
               ChannelOutbox& outbox, ChannelAnswers& answers, ChannelApprovals& approvals, StopSource& stop);

  Task<> take(ReceivedMessage message);

  /// The stranger who was given that code, while it is valid.
  std::optional<Stranger> find_stranger(std::string_view code);
  void forget_stranger(std::string_view code);
  std::size_t strangers();

private:
  bool is_allowed(const ReceivedMessage& message) const { return settings_.allow.contains(message.sender); }
  Task<> take_press(ReceivedMessage message);
  void greet(const ReceivedMessage& message);
  void forget_expired();
  Task<> take_allowed(ReceivedMessage message);
  /// Returns the problem of a message that cannot be taken; empty if it was.
  Task<std::string> try_to_take(ReceivedMessage message);
  Task<> take_once(ReceivedMessage message);
  Task<> ask_agent(ReceivedMessage message);
  Task<> attach(const ReceivedMessage& message, ChatMessage& chat);
  Task<std::string> thread_for(ChatPlace place);
  Task<std::optional<std::string>> known_thread(ChatPlace place);
  Task<bool> is_known(const ReceivedMessage& message) const;
  InboundRow row_of(const ReceivedMessage& message) const;
  /// What an answer to it names as the message that it answers; empty in private chats of messengers.
  std::string replies_to(const ReceivedMessage& message) const;
  /// Stores that the message was taken, with an answer to it. `in_transaction` runs first.
  Task<> reply(ReceivedMessage message, std::string text, std::function<void(Connection&)> in_transaction = {});

  Task<bool> obey(ReceivedMessage message);
  Task<std::string> stop_answer(ChatPlace place);
  Task<std::string> set_mode(ChatPlace place, ThreadMode mode);
  Task<std::string> status_of(ChatPlace place);

  const ChannelServices& services_;
  const ChannelSettings& settings_;
  Messenger& messenger_;
  ChannelOutbox& outbox_;
  ChannelAnswers& answers_;
  ChannelApprovals& approvals_;
  StopSource& stop_;
  std::vector<Stranger> strangers_;
};

}  // namespace agw
