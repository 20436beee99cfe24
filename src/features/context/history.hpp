#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "features/threads/types.hpp"
#include "models/model.hpp"

namespace agw {

/// The tool calls of earlier answers in the order that models expect: the text before the calls, the calls, their
/// results, the text after them.
class ToolHistory {
public:
  /// Uses the tool turns among `turns`, which outlive it.
  explicit ToolHistory(const std::vector<Turn>& turns);

  /// The messages of an assistant's turn. A call whose turn was deleted is left out, because services refuse calls
  /// without results; so are the turns of a run that has no answer.
  std::vector<Message> messages_of(const Turn& answer);

private:
  void add_step(std::vector<Message>& messages, std::string text, const json::array& call_ids,
                const std::string& run_id);

  std::map<std::pair<std::string, std::string>, const Turn*> tool_turns_;  ///< by run and call
  std::set<std::string, std::less<>> used_ids_;  ///< in the whole conversation, where they must be unique
};

/// Changes the ids of calls in earlier answers, and of their results, that are also among `taken`, the ids of the
/// current run.
void make_call_ids_unique(std::span<Message> earlier, const std::set<std::string, std::less<>>& taken);

/// The name or id of a call in a form that all services accept, whatever a model or a client sent.
std::string acceptable_name(std::string name);

}  // namespace agw
