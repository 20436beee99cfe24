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

/// What agents ask the people of one channel: permission requests and questions, with the answers to choose from. Only
/// people whom the channel answers decide; the caller checks that.
class ChannelApprovals {
public:
  ChannelApprovals(const ChannelServices& services, const Messenger& messenger, ChannelOutbox& outbox,
                   ChannelMemory& memory);

  /// Continues with what the channel asked before its settings changed: sends what was not sent, and shows what was
  /// decided in the meantime.
  void resume(const std::set<std::string, std::less<>>& allow);

  /// Sends a request, the member of its event, to these chats; in mails as a reply to what `copies` name.
  void ask(const json::object& request, std::vector<AskedRequest::Copy> copies);
  /// Shows the decision, from the event `permission-decided`.
  void close(const json::object& decided);
  /// The run that asked has ended.
  void close_thread(std::string_view thread_id);
  bool is_empty() const { return memory_.asked.empty(); }

  /// Makes the decision of the pressed button. Returns the response for the person.
  Task<std::string> press(std::string button);

  /// Handles a message as an answer, if a request is or was pending in its chat: the number of a choice, if there are
  /// no buttons, or the answer to a question. No value if it is not an answer; otherwise the reason why it decides
  /// nothing, for the person, or empty if it did. `in_transaction` runs with the decision. The same message gets the
  /// same until it was handled.
  Task<std::optional<std::string>> answer(const ReceivedMessage& message,
                                          std::function<void(Connection&)> in_transaction);
  /// A message that decided nothing was handled: the next one there is no late answer.
  void forget_ended(const ChatPlace& place);

private:
  static std::vector<AskedRequest::Choice> choices_of(const json::object& request);
  void set_text(const json::object& request, AskedRequest& asked) const;
  void send(const AskedRequestPointer& asked, std::size_t copy);
  void show_outcome(const AskedRequest& asked, const AskedRequest::Copy& copy);
  void end(const AskedRequestPointer& asked, std::string outcome);
  /// The request in that chat which has this text as one of its choices, with the choice.
  static std::pair<AskedRequestPointer, std::size_t> chosen(const std::vector<AskedRequestPointer>& requests,
                                                            const ChatPlace& place, std::string_view text);
  /// What to say to a late answer; no value if the message is not an answer.
  std::optional<std::string> late_answer(const ReceivedMessage& message, std::string_view line) const;
  /// Returns why it could not be decided; empty if it was.
  Task<std::string> decide(std::string id, DecidePermission decision, std::function<void(Connection&)> in_transaction);

  const ChannelServices& services_;
  const Messenger& messenger_;
  ChannelOutbox& outbox_;
  ChannelMemory& memory_;
};

}  // namespace agw
