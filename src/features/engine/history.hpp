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

/// The tool calls of earlier answers, as models want to read them: what was said before the calls, the calls, their
/// results, what was said then.
class ToolHistory {
public:
  /// Of the tool turns among these, which outlive it.
  explicit ToolHistory(const std::vector<Turn>& turns);

  /// The messages that an assistant's turn stands for. A call that has no turn any more is left out, because services
  /// refuse calls without results; so are the turns of a run that has no answer.
  std::vector<Message> messages_of(const Turn& answer);

private:
  void add_step(std::vector<Message>& messages, std::string text, const json::array& call_ids,
                const std::string& run_id);

  std::map<std::pair<std::string, std::string>, const Turn*> tool_turns_;  ///< by run and call
  std::set<std::string, std::less<>> used_ids_;  ///< in the whole conversation, where they must be unique
};

/// Gives the calls of earlier answers, and their results, ids that are not among `taken`, those of the answer under
/// way.
void tell_calls_apart(std::span<Message> earlier, const std::set<std::string, std::less<>>& taken);

/// The name or id of a call as services want to read it again, whatever a model or a client made of it.
std::string usable_name(std::string name);

}  // namespace agw
