#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/group.hpp"
#include "features/engine/answer_services.hpp"
#include "features/engine/job_turns.hpp"
#include "features/engine/model_limits.hpp"
#include "features/engine/outcome.hpp"
#include "features/engine/titles.hpp"
#include "features/engine/types.hpp"

namespace agw {

/// A task that a run has handed to another agent; known until it is done.
struct Delegation {
  std::string run_id;             ///< of the run that does it
  std::string delegating_run_id;  ///< empty where a person has ordered the task
  std::string agent_id;           ///< of the one that does it
  std::string thread_id;          ///< empty until its thread is made
  bool is_reseeding = false;      ///< extensions are made what their files say, which the task may have changed
};

/// Chats: stores what a person says, has the agent answer it, and stores the answer. Runs of one thread are done in
/// order, those of different threads at once.
class Engine {
public:
  explicit Engine(const AnswerServices& services);

  /// Stores the message and begins to answer it. Throws BadRequest `agent not found` or `agent is disabled` (both with
  /// `agent_id`) or `model does not accept images`, NotFound `thread not found` or `file not found`.
  Task<Turn> chat(ChatMessage message, Along<Turn> along = {});

  /// Stops what answers on the thread and drops what waits; returns once all of it has ended and is stored. Throws
  /// NotFound `thread not found`.
  Task<ChatStopped> stop_chat(StopChat wanted);

  /// Takes the run that only waits to answer that turn of a chat, where there is one, out of its thread's queue.
  Task<> drop_waiting(std::string turn_id);

  /// Answers a user turn again (an assistant's turn stands for its question), by the agent that answered it, or the
  /// thread's where that one cannot any more, and by the model that the message named. Throws NotFound `turn not
  /// found`, Conflict `turn is in use`, and for the thread's agent as `chat` does.
  Task<Turn> regenerate(std::string turn_id, Along<Turn> along = {});

  /// What the agent would be told before a conversation, with what it is likely to cost. Throws NotFound `thread not
  /// found`.
  Task<AgentPrompt> prompt(ExtensionPointer agent, AgentPromptQuery query);

  /// Whether the agent can change that file, absolute and resolved, with Write or Edit in a run of act mode.
  bool may_write(const ExtensionPointer& agent, const std::optional<std::string>& project_id,
                 const std::filesystem::path& file) const;

  // For jobs (see job_turn.hpp).

  /// Puts a run behind those of its thread. `begin_job_run` follows.
  ActiveRunPointer open_job_run(JobTurn job_turn);
  /// Stores the turns and begins to answer; `along`, where given, runs first in the same transaction, and what it
  /// throws leaves nothing behind. Throws NotFound `thread not found`.
  Task<> begin_job_run(ActiveRunPointer active, std::function<void(Connection&)> along);
  /// Stops the run, also one that waits, and returns once it has ended and is stored. Throws ApiError 507 `disk full`
  /// where its end finds no room: it is stored once there is.
  Task<> stop_run(ActiveRunPointer active);
  /// The same without waiting for its end.
  void end_soon(const ActiveRunPointer& active);
  /// Ends the run with that error, keeping what it has made.
  void fail_run(const ActiveRunPointer& active, std::string why);

  /// Has another agent do a task in a new thread, with no more rights than the calling run has, and gives its answer;
  /// `stop` stops it too. Throws BadRequest `agent not found` or `agent is disabled` (both with `agent_id`).
  Task<ToolOutcome> delegate(const ToolRun& caller, std::string agent_name, std::string task, Stop& stop);
  /// For a task that another room hands out. It is known for as long as that keeps it.
  void add_delegation(const std::shared_ptr<const Delegation>& delegation);
  std::vector<std::shared_ptr<const Delegation>> delegations() const;

  /// Told of each answer once it is stored, before whoever ordered the run is told of its end.
  void observe(std::function<void(const Run& run, const RunOutcome& outcome)> observer) {
    observer_ = std::move(observer);
  }

  /// Ends, before anything else runs, what a killed gateway left under way.
  Task<> recover(std::vector<InterruptedRun> interrupted);

  /// Stops everything; each run is saved as far as it got.
  Task<> stop();

private:
  std::string answerer_of(const std::optional<Turn>& answer, const Thread& thread) const;
  Task<std::vector<Attachment>> require_files(const ChatMessage& message, const Extension& agent);
  ActiveRunPointer open_run(const std::string& thread_id, const std::string& turn_id, const Extension& agent,
                            json::object order);
  Along<Turn> recording(const ActiveRunPointer& active, Along<Turn> along) const;
  void begin(const ActiveRunPointer& active);

  void stop_all(const std::vector<ActiveRunPointer>& runs);
  /// An end that finds no room on the disk comes once there is: whoever does not wait for that gets 507 `disk full`.
  enum class WithoutRoom { wait, refuse };
  static Task<> until_ended(ActiveRunPointer active, WithoutRoom without_room = WithoutRoom::wait);
  Task<> wait_for_others(ActiveRunPointer active);

  Task<> work(std::string thread_id);
  Task<> answer(ActiveRunPointer active);
  Task<> produce(ActiveRunPointer active, RunOutcome& outcome);
  Task<RunOutcome> answer_without_model(ActiveRunPointer active, std::shared_ptr<const JobTurn> job_turn);
  Task<> save(ActiveRunPointer active, RunOutcome outcome);
  Task<bool> end(ActiveRunPointer active, const RunOutcome& outcome);

  const AnswerServices services_;
  ModelLimits limits_;
  JobTurns job_turns_;
  Stop stopping_;
  Titles titles_;
  std::set<std::string, std::less<>> working_;  ///< threads that have a worker
  std::vector<std::weak_ptr<const Delegation>> delegations_;
  std::function<void(const Run&, const RunOutcome&)> observer_;
  Group workers_;
};

}  // namespace agw
