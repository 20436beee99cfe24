#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "features/channels/channel_memory.hpp"
#include "features/channels/outbox.hpp"

namespace agw {

/// Permission requests and questions of agents to the people of one channel, with the choices. Only people in `allow`
/// may decide; the caller checks that.
class ChannelApprovals {
public:
  ChannelApprovals(const ChannelServices& services, const Messenger& messenger, ChannelOutbox& outbox,
                   ChannelMemory& memory);

  /// Continues after a change of the settings: sends requests that were not sent, and shows decisions made in the
  /// meantime.
  void resume(const std::set<std::string, std::less<>>& allow);

  /// Sends a request, given as the member of its event, to these chats; mails are sent as replies to the messages that
  /// `copies` name.
  void ask(const json::object& request, std::vector<AskedRequest::Copy> copies);
  /// Shows a decision, given as the member of the event `permission-decided`.
  void close(const json::object& decided);
  /// Ends the requests of the thread, whose run has ended.
  void close_thread(std::string_view thread_id);
  bool is_empty() const { return memory_.asked.empty(); }

  /// Makes the decision of the pressed button. Returns the response for the person.
  Task<std::string> press(std::string button);

  /// Handles a message as an answer if a request is or was pending in its chat: the number of a choice, if there are no
  /// buttons, or the answer to a question. Returns no value if the message is not an answer; an empty text if it
  /// decided the request; otherwise the reason for the person why it did not. `in_transaction` runs in the transaction
  /// of the decision. Idempotent until the message was handled.
  Task<std::optional<std::string>> answer(const ReceivedMessage& message,
                                          std::function<void(Connection&)> in_transaction);
  /// Must be called after a message that decided nothing was handled: the next message in that chat is no late answer.
  void forget_ended(const ChatPlace& place);

private:
  static std::vector<AskedRequest::Choice> choices_of(const json::object& request);
  void set_text(const json::object& request, AskedRequest& asked) const;
  void send(const AskedRequestPointer& asked, std::size_t copy);
  void show_outcome(const AskedRequest& asked, const AskedRequest::Copy& copy);
  void end(const AskedRequestPointer& asked, std::string outcome);
  /// The request in that chat that has this text as one of its choices, and the index of the choice.
  static std::pair<AskedRequestPointer, std::size_t> chosen(const std::vector<AskedRequestPointer>& requests,
                                                            const ChatPlace& place, std::string_view text);
  /// The response to a late answer; no value if the message is not one.
  std::optional<std::string> late_answer(const ReceivedMessage& message, std::string_view line) const;
  /// Returns why the request could not be decided; empty on success.
  Task<std::string> decide(std::string id, DecidePermission decision, std::function<void(Connection&)> in_transaction);

  const ChannelServices& services_;
  const Messenger& messenger_;
  ChannelOutbox& outbox_;
  ChannelMemory& memory_;
};

}  // namespace agw
