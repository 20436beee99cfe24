#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "features/engine/answer_services.hpp"
#include "features/engine/model_limits.hpp"
#include "features/engine/outcome.hpp"
#include "features/engine/repeat_guard.hpp"
#include "features/engine/running_agent.hpp"
#include "models/retry.hpp"

namespace agw {

/// One answer of a model in the making, with its steps: gathers what the model is to read, streams what it says, makes
/// the calls that it asks for, gives it their results, until it asks for none.
class Answering {
public:
  /// `choices` are asked in turn, at least one. `outcome` says, once `run` has returned, how the answer ended.
  Answering(const AnswerServices& services, ModelLimits& limits, ActiveRunPointer active, ExtensionPointer agent,
            std::vector<ModelChoice> choices, RunOutcome& outcome);

  Task<> run();

private:
  // The story: answering.cpp.
  bool may_go_on(std::int64_t calls);
  Task<> gather();
  Task<std::vector<ToolUse>> ask();
  Task<> call_tools(std::vector<ToolUse> uses);
  void add_results(std::vector<Message> results);
  void keep_those_that_see();
  void make_usable(std::vector<ToolUse>& uses);
  void go_on_with(const std::string& id);
  void charge(const Answered& answered);
  const Extension& agent() const { return *caller_->agent; }

  // What of the conversation fits the models: fitting.cpp.
  std::size_t room_of(const ModelChoice& choice) const;
  Task<ModelRequest> conversation(Thread thread);
  Task<std::optional<std::string>> summarise(std::string earlier, std::vector<Turn> older);
  Task<> cut_to(std::size_t room);
  Task<std::vector<Message>> cut_for(ModelChoice choice);
  Task<bool> ask_for_less(Answered refused);
  Task<Answered> ask_in_turn(const OnDelta& on_delta);
  Task<Answered> ask_fitting(const OnDelta& on_delta);
  void note_less(const Answered& answered, std::int64_t asked_output);

  const AnswerServices& services_;
  ModelLimits& limits_;
  const ActiveRunPointer active_;
  const std::shared_ptr<RunningAgent> caller_;
  std::vector<ModelChoice> choices_;  ///< the one that answered last comes first
  RunOutcome& outcome_;
  ModelRequest request_;
  RepeatGuard repeats_;
  std::set<std::string, std::less<>> call_ids_;
  bool sees_ = false;  ///< the model that was chosen: where it does not, no fallback is shown pictures of turns
  std::int64_t prompt_tokens_ = 0;
  std::size_t room_ = 0;       ///< for messages, in bytes
  std::size_t recalled_ = 0;   ///< of the messages: those of the conversation, before what this answer has added
  std::size_t pictures_ = 0;   ///< that tools have shown
  bool keeps_summary_ = true;  ///< of older turns, for later answers: not where it is for a small fallback only
  bool separated_ = true;      ///< nothing has to stand between what was said and what will be
};

}  // namespace agw
