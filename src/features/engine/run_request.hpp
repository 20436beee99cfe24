#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "features/engine/outcome.hpp"
#include "features/runs/service.hpp"

namespace agw {

/// Observes a run on behalf of the room that requested it. Called on the loop.
class RunObserver {
public:
  virtual ~RunObserver() = default;
  /// The run begins once this returns: it is the first on its thread and waits for no other run, or is stopped before
  /// that. Must not throw.
  virtual Task<> started() { co_return; }
  /// Called right before the write that ends the run. Returns a function that runs in the same transaction. Called
  /// again if that write failed.
  virtual Runs::AtEnd ending(const RunOutcome& outcome) = 0;
  /// Called after the run's last event.
  virtual void ended() {}
};

/// Answers without a model: returns the whole text. An exception fails the run, with its message.
using Answerer = std::function<Task<std::string>(StopSource& stop)>;

/// A prompt from another room, such as a job's, to be answered by an agent like a person's message.
struct RunRequest {
  std::string run_id;
  std::string thread_id;
  std::string agent_id;
  std::string prompt;
  /// Data that the prompt refers to, such as a webhook's body: stored before it, as a system turn.
  std::optional<std::string> attached_data;
  json::object metadata;  ///< of both turns
  json::object order;     ///< `model`, `mode`, `dry`, `depth`: how to answer
  /// The run whose agent requested this one. While that run answers a person, this run asks the person through it.
  /// Empty: none.
  std::string ordering_run_id{};
  EventCause cause{};  ///< of the events that the run causes; contains no jobs unless a job requested the run
  /// Returns the runs, of any thread, that must end first. Called once the run is the first on its own thread. Empty:
  /// there are none.
  std::function<std::vector<ActiveRunPointer>()> runs_before;
  /// Awaited before the run begins, once no other run is ahead of it; returns as soon as `stop` is requested. Empty:
  /// there is nothing to wait for.
  std::function<Task<>(StopSource& stop)> before_start{};
  Answerer answerer;          ///< empty: the agent's model
  std::string answerer_name;  ///< stored instead of the model's id
  std::shared_ptr<RunObserver> observer;
  bool allows_disabled_agent = false;  ///< the agent may be disabled
};

}  // namespace agw
