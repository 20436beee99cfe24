#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/channels/answers.hpp"
#include "features/channels/approvals.hpp"

namespace agw {

/// Handles the messages of one channel: each exactly once, in order. Strangers get no response or, with pairing, a code
/// that a person confirms at the gateway.
class ChannelInbox {
public:
  ChannelInbox(const ChannelServices& services, const ChannelSettings& settings, Messenger& messenger,
               ChannelOutbox& outbox, ChannelAnswers& answers, ChannelApprovals& approvals, ChannelMemory& memory,
               StopSource& stop);

  /// Continues after a change of the settings: sends pairing codes that were not sent, and removes those of people who
  /// are now in `allow`.
  void resume();

  Task<> receive(ReceivedMessage message);

  /// Why the message that is being handled waits; empty if it does not.
  const std::string& problem() const { return problem_; }

private:
  bool is_allowed(const ReceivedMessage& message) const { return settings_.allow.contains(message.sender); }
  Task<> handle_press(ReceivedMessage message);
  Task<> handle_move(ReceivedMessage message);
  void send_pairing_code(const ReceivedMessage& message);
  void send_code(const Stranger& stranger);
  Task<> handle_allowed(ReceivedMessage message);
  Task<> handle_once(ReceivedMessage message);
  Task<> ask_agent(ReceivedMessage message);
  Task<> attach(const ReceivedMessage& message, ChatMessage& chat);
  Task<std::string> thread_for(ChatPlace place);
  Task<std::optional<std::string>> known_thread(ChatPlace place);
  /// Tells the person why the message cannot be read.
  Task<> refuse(ReceivedMessage message);
  Task<bool> is_known(const ReceivedMessage& message) const;
  InboundRow row_of(const ReceivedMessage& message) const;
  /// The message id that a reply refers to; empty in private chats of messengers.
  std::string replies_to(const ReceivedMessage& message) const;
  /// Stores the message as handled, together with a reply to it. `in_transaction` runs before the reply is inserted.
  Task<> reply(ReceivedMessage message, std::string text, std::function<void(Connection&)> in_transaction = {});

  Task<bool> run_command(ReceivedMessage message);
  Task<std::string> stop_run(ChatPlace place);
  Task<std::string> set_mode(ChatPlace place, ThreadMode mode);
  Task<std::string> status_of(ChatPlace place);

  const ChannelServices& services_;
  const ChannelSettings& settings_;
  Messenger& messenger_;
  ChannelOutbox& outbox_;
  ChannelAnswers& answers_;
  ChannelApprovals& approvals_;
  ChannelMemory& memory_;
  StopSource& stop_;
  std::string problem_;
};

}  // namespace agw
