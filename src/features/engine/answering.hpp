#pragma once

#include <set>
#include <string>
#include <vector>

#include "features/engine/repeat_guard.hpp"
#include "features/engine/service.hpp"

namespace agw {

/// One answer in the making: what its steps share.
struct Engine::Answering {
  ActiveRunPointer active;
  RunningAgentPointer caller;
  std::vector<ModelChoice> choices;  ///< the one that answered last comes first
  ModelRequest request;
  RunOutcome& outcome;
  RepeatGuard repeats{};
  std::set<std::string, std::less<>> call_ids{};
  bool sees = false;  ///< the model that was chosen: where it does not, no fallback is shown pictures of turns
  std::int64_t prompt_tokens = 0;
  std::size_t room = 0;       ///< for messages, in bytes
  std::size_t recalled = 0;   ///< of the messages: those of the conversation, before what this answer has added
  std::size_t pictures = 0;   ///< that tools have shown
  bool keeps_summary = true;  ///< of older turns, for later answers: not where it is for a small fallback only
  bool separated = true;      ///< nothing has to stand between what was said and what will be

  /// Names and ids that can be sent back, the ids unlike all before: those of earlier answers give way.
  void make_usable(std::vector<ToolUse>& uses);

  /// Leaves the choices before that one out, which have failed.
  void go_on_with(const std::string& id);
};

/// What of the conversation is shown to the model.
struct Engine::Recalled {
  std::string summary;  ///< of the turns before; empty where there is none
  std::vector<Turn> turns;
};

}  // namespace agw
