#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "features/channels/outbox.hpp"

namespace agw {

/// What agents ask the people of one channel: permission requests and questions, with the answers to choose from. Only
/// people whom the channel answers decide; the caller checks that.
class ChannelApprovals {
public:
  ChannelApprovals(const ChannelServices& services, const Messenger& messenger, ChannelOutbox& outbox);

  /// Sends a request, the member of its event, to these chats; in mails as a reply to `replies_to`.
  void ask(const json::object& request, const std::vector<ChatPlace>& places, const std::string& replies_to = {});
  /// Shows the decision, from the event `permission-decided`.
  void close(const json::object& decided);
  /// The run that asked has ended.
  void close_thread(std::string_view thread_id);
  bool is_empty() const { return pending_.empty(); }

  /// Makes the decision of the pressed button. Returns the response for the person.
  Task<std::string> press(std::string button);

  /// Handles a message as an answer, if a request is pending in its chat: the number of a choice, if there are no
  /// buttons, or the answer to a question. Returns false if it is not one. `in_transaction` runs with the decision.
  Task<bool> answer(const ReceivedMessage& message, std::function<void(Connection&)> in_transaction);

private:
  struct Choice {
    std::string label;
    DecidePermission decision;
  };
  struct Copy {
    ChatPlace place;
    std::string replies_to{};
    std::string message{};  ///< empty: not sent yet
  };
  struct Pending {
    std::string id;
    std::string thread_id;
    std::string title;
    std::vector<Choice> choices;
    int first_number = 1;     ///< of the choices, unique among pending requests
    bool takes_text = false;  ///< any text answers it
    std::vector<Copy> copies{};
    std::string outcome{};  ///< empty while it is pending
  };
  using PendingPointer = std::shared_ptr<Pending>;

  static std::vector<Choice> choices_of(const json::object& request);
  std::string text_of(const json::object& request, const Pending& pending) const;
  void send(const PendingPointer& pending, std::size_t copy, const std::string& text);
  void show_outcome(const Pending& pending, const Copy& copy);
  void end(const PendingPointer& pending, std::string outcome);
  PendingPointer find(std::string_view id) const;
  int next_number() const;
  /// Returns why it could not be decided; empty if it was.
  Task<std::string> decide(std::string id, DecidePermission decision, std::function<void(Connection&)> in_transaction);

  const ChannelServices& services_;
  const Messenger& messenger_;
  ChannelOutbox& outbox_;
  std::vector<PendingPointer> pending_;
};

}  // namespace agw
