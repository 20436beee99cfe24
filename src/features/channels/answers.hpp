#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/channels/outbox.hpp"
#include "features/channels/typing.hpp"

namespace agw {

/// The questions of one channel that agents are answering. The messages of an answer are stored in the transaction that
/// marks the question as answered, so a kill neither loses nor repeats them.
class ChannelAnswers {
public:
  ChannelAnswers(const ChannelServices& services, const ChannelSettings& settings, Messenger& messenger,
                 ChannelOutbox& outbox, StopSource& stop);

  /// Resumes after a restart or a change of the settings: follows unanswered questions, and sends unsent messages.
  /// People who are no longer in `allow` get nothing.
  Task<> recover();
  /// Follows the run that answers a question. The question must be stored.
  void add(InboundRow question);
  void deliver(const DomainEvent& event);

  /// The question that a run of the thread answers; null if the question came from elsewhere.
  const InboundRow* find(std::string_view thread_id, std::string_view turn_id) const;
  bool has_questions(std::string_view thread_id) const;
  std::set<std::string, std::less<>> threads() const;
  std::size_t count() const { return questions_.size(); }
  /// Why the answer to a question cannot be stored; empty if there is no such question.
  std::string problem() const;
  /// Waits while too many questions are open, or until the channel stops.
  Task<> wait_for_capacity();
  Task<> join();

private:
  struct Question {
    InboundRow row;
    std::string text{};  ///< the answer so far
    bool is_ending = false;
    std::string problem{};  ///< why its answer cannot be stored yet
  };

  /// Whether a stored question or message belongs to someone who is no longer in `allow`.
  bool is_for_stranger(Connection& connection, const ChatPlace& place) const;
  Question* question_of(std::string_view thread_id, std::string_view turn_id);
  void append(const DomainEvent& event);
  void end(Question& question);
  /// The chats in which an agent is at work, and does not wait for a person.
  std::set<ChatPlace> chats_at_work() const;
  Task<> finish(InboundRow row);
  Task<std::vector<OutboxRow>> store_answer(InboundRow row);
  /// The message for the person; empty if the turn was deleted.
  Task<std::string> text_of_answer(std::string turn_id);
  std::vector<OutboxRow> rows_of(const InboundRow& question, const std::string& text) const;
  /// Adds the files of the answer to the messages: to the first mail, otherwise as separate messages.
  void add_files(const InboundRow& question, const std::string& files, std::vector<OutboxRow>& rows) const;

  const ChannelServices& services_;
  const ChannelSettings& settings_;
  const Messenger& messenger_;
  ChannelOutbox& outbox_;
  StopSource& stop_;
  std::multimap<std::string, Question, std::less<>> questions_;  ///< by thread
  AsyncEvent changed_;
  ChannelTyping typing_;
  TaskGroup group_;
};

}  // namespace agw
