#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cut.hpp"
#include "features/engine/outcome.hpp"
#include "features/runs/service.hpp"

namespace agw {

/// Somebody who ordered a run and keeps a record of it.
struct RunFollower {
  /// On the loop, when its turn on the thread has come. Not called for a run that was stopped while it waited.
  std::function<void()> started;
  /// On the loop, right before the write that ends the run: gives what is stored in the same transaction. Asked again
  /// where that write failed.
  std::function<Runs::AtEnd(const RunOutcome&)> ending;
  /// On the loop, after the run's last event.
  std::function<void()> ended;
};

/// Makes an answer without a model: gives the whole text. What it throws fails the run, with its message.
using Answerer = std::function<Task<std::string>(Stop& stop)>;

/// The prompt of a job, which an agent answers like a person's message.
struct JobTurn {
  std::string run_id;
  std::string thread_id;
  std::string agent_id;
  std::string prompt;
  /// What the prompt is about and no person said, such as a webhook's body: stored before it, as a system turn.
  std::optional<std::string> enclosure;
  json::object metadata;  ///< of both turns
  json::object order;     ///< `model`, `mode`, `dry`, `depth`: how to answer
  /// Gives those that end first, on whatever threads. Asked when its turn on its own thread has come; empty for none.
  std::function<std::vector<ActiveRunPointer>()> behind;
  Answerer answerer;          ///< empty: the agent's model
  std::string answerer_name;  ///< stands for the model
  RunFollower follower;
  bool even_disabled = false;  ///< whoever ordered it takes an agent that is disabled too
};

}  // namespace agw
