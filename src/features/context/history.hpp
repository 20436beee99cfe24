#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "features/context/thoughts.hpp"
#include "features/threads/types.hpp"
#include "models/model.hpp"

namespace agw {

/// The tool calls of earlier answers in the order that models expect: the text before the calls, the calls, their
/// results, messages that were steered into the answer at that point, the text after them.
/// Example: src/features/context/history_test.cpp: ToolHistory.PutsCallsWhereTheyWereMade
class ToolHistory {
public:
  /// Makes the message of a user turn; no value if models are not shown the turn.
  using MakeMessage = std::function<std::optional<Message>(const Turn&)>;

  /// `user_message` is called for messages that were steered into an answer; without it, they are left out. `thoughts`
  /// are added to the messages of their steps. `turns` and `thoughts` must outlive this object.
  explicit ToolHistory(const std::vector<Turn>& turns, MakeMessage user_message = {},
                       const AnswerThoughts* thoughts = nullptr);

  /// Appends the messages of an assistant's turn. Leaves out calls whose result turn was deleted, because services
  /// refuse calls without results, and the tool turns of a run that has no answer.
  void add_messages_of(const Turn& answer, std::vector<Message>& messages);

  /// Whether this user turn was steered into an answer, whose messages therefore contain it. False if the answer
  /// is missing, as in a fork that ends before it.
  bool is_in_answer(const Turn& turn) const;

private:
  /// A place after a step of a run.
  using StepPlace = std::pair<std::string, std::int64_t>;

  void add_step(std::vector<Message>& messages, Message step, const json::array& call_ids, const std::string& run_id);
  void add_thoughts(Message& message, const Turn& answer, std::int64_t step) const;
  void add_steered(std::vector<Message>& messages, const StepPlace& place) const;
  static std::optional<StepPlace> place_of(const Turn& turn);

  std::map<std::pair<std::string, std::string>, const Turn*> tool_turns_;  ///< by run and call
  std::map<std::string, std::int64_t, std::less<>> steps_;                 ///< of each answer, by run
  std::multimap<StepPlace, const Turn*> steered_;
  MakeMessage user_message_;
  const AnswerThoughts* thoughts_;
  std::set<std::string, std::less<>> used_ids_;  ///< ids of calls; they must be unique in the conversation
};

/// Changes ids of calls in earlier answers, and in their results, that are also in `taken`, the ids of the current run.
void make_call_ids_unique(std::span<Message> earlier, const std::set<std::string, std::less<>>& taken);

/// Converts the name or id of a call, as a model or client sent it, to a form that all services accept.
std::string acceptable_name(std::string name);

}  // namespace agw
