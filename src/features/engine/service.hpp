#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/assert.hpp"
#include "base/async/task_group.hpp"
#include "features/context/service.hpp"
#include "features/engine/engine_services.hpp"
#include "features/engine/outcome.hpp"
#include "features/engine/run_requests.hpp"
#include "features/engine/titles.hpp"
#include "features/engine/types.hpp"

namespace agw {

class ClientTools;
struct Tool;
class Runs;
class Stages;
class Threads;
struct Route;

/// A task that a run has delegated to another agent. It exists until the task is done.
struct Delegation {
  std::string run_id;             ///< of the run that does the task
  std::string delegating_run_id;  ///< empty: a person requested the task
  std::string agent_id;           ///< of the agent that does the task
  std::string thread_id;          ///< empty until its thread exists
  bool is_reseeding = false;      ///< true while extensions are reset to their files, which the task may have changed
};

/// Runs agents: stores messages, has agents answer them, and stores the answers. Runs of one thread follow one another,
/// those of different threads run concurrently. Used on the loop.
///
/// It needs models, tools and nearly every room before it, so it has no unit test: tests/api/test_chat.py shows the
/// use. Its parts have unit tests.
class Engine {
public:
  explicit Engine(const EngineServices& services);

  /// Stores the message and begins to answer it. `client`, if any, receives the answer. Throws BadRequest `agent not
  /// found` or `agent is disabled` (both with `agent_id`) or `model does not accept images`, NotFound `thread not
  /// found` or `file not found`.
  Task<Turn> chat(ChatMessage message, InTransaction<Turn> in_transaction = {}, std::shared_ptr<RunClient> client = {});

  /// Stops the active run of the thread and those queued after it. Returns once all have ended and are stored. Throws
  /// NotFound `thread not found`.
  Task<ChatStopped> stop_chat(StopChat wanted);
  /// Stops the runs for a thread that another room has not opened yet. Returns whether there were any, once they have
  /// ended.
  using StopUnopened = std::function<Task<bool>(std::string thread_id)>;
  /// Has `stop_chat` stop these runs, too.
  void stop_unopened_with(StopUnopened stop) { stop_unopened_ = std::move(stop); }

  /// Deletes the turn. If a run that has not started yet would answer it, removes that run from its thread's queue.
  /// Throws NotFound `turn not found`, Conflict `turn is in use`.
  Task<> remove_turn(std::string turn_id);

  /// Answers a user turn again; for an assistant's turn, the question that it answers. Uses the agent that answered
  /// before, or the thread's if that one no longer can, and the model that the message named, unless `wanted` names
  /// another. With `wanted.content`, stores and answers an edited question, which supersedes the old one. Returns the
  /// question. Throws NotFound `turn not found`, Conflict `turn is in use`, and what `chat` throws for the thread's
  /// agent.
  Task<Turn> regenerate(std::string turn_id, AnswerAgain wanted = {}, InTransaction<Turn> in_transaction = {});

  /// The agent's system prompt and tools, with estimates of their tokens. Throws NotFound `thread not found`.
  Task<AgentPrompt> prompt(ExtensionPointer agent, AgentPromptQuery query);

  /// Whether the agent may change `file` (absolute, resolved) with Write or Edit in a run in act mode that has it as
  /// its own file (own_file_member).
  bool may_write(const ExtensionPointer& agent, const std::optional<std::string>& project_id,
                 const std::filesystem::path& file) const;

  // Runs that other rooms request (see run_request.hpp).

  /// Adds a run to the queue of its thread. Call `begin_run` next.
  ActiveRunPointer open_run(RunRequest run_request);
  /// Stores the turns and begins to answer. `in_transaction`, if any, runs first in the same transaction; if it throws,
  /// nothing is stored. Throws NotFound `thread not found`.
  Task<> begin_run(ActiveRunPointer active, std::function<void(Connection&)> in_transaction);
  /// Stops the run, even if it has not started, and returns once it has ended and is stored. Throws ApiError 507 `disk
  /// full` if the disk is full; the end is then stored once there is space.
  Task<> stop_run(ActiveRunPointer active);
  /// Like `stop_run`, without waiting for the end.
  void end_soon(const ActiveRunPointer& active);
  /// Ends the run with the error `why`, and stores the answer so far.
  void fail_run(const ActiveRunPointer& active, std::string why);

  /// Has another agent do a task in a new thread, with no more rights than the calling run, and returns its answer.
  /// Requesting `stop` stops the new run. Throws BadRequest `agent not found` or `agent is disabled` (both with
  /// `agent_id`).
  Task<ToolOutcome> delegate(const ToolRun& caller, std::string agent_name, std::string task, StopSource& stop);
  /// Registers a task that another room delegates, for as long as that room owns it.
  void add_delegation(const std::shared_ptr<const Delegation>& delegation);
  std::vector<std::shared_ptr<const Delegation>> delegations() const;

  /// The cause of the events of the run with that id: the request at the root of its chain of delegations. Contains no
  /// jobs if the root is a person's message.
  EventCause cause_of(std::string run_id) const;

  /// Ends the runs that a killed gateway left active. Call it before starting any run.
  Task<> recover(std::vector<InterruptedRun> interrupted);
  /// Ends the runs of another, killed gateway. May be called at any time.
  Task<> end_interrupted(std::vector<InterruptedRun> interrupted);

  /// Stops all runs, and stores each answer so far.
  Task<> stop();

private:
  std::string answerer_of(const std::optional<Turn>& answer, const Thread& thread) const;
  Task<std::vector<Attachment>> require_files(const ChatMessage& message, const Extension& agent);
  ActiveRunPointer open_run(const std::string& thread_id, const std::string& turn_id, const Extension& agent,
                            json::object order);
  InTransaction<Turn> recording(const ActiveRunPointer& active, InTransaction<Turn> in_transaction) const;
  void begin(const ActiveRunPointer& active);
  void withdraw(const ActiveRunPointer& active);
  void work_on(const std::string& thread_id);

  void stop_all(const std::vector<ActiveRunPointer>& runs);
  /// A full disk delays the end of a run until there is space: either wait for that, or throw ApiError 507 `disk full`.
  enum class OnFullDisk { wait, refuse };
  static Task<> until_ended(ActiveRunPointer active, OnFullDisk on_full_disk = OnFullDisk::wait);
  Task<> wait_for_others(ActiveRunPointer active);

  /// The run of a person's message at the root of the chain of delegations; null if a job or another room requested it.
  ActiveRunPointer run_of_person(const ActiveRunPointer& active) const;

  Task<> work(std::string thread_id);
  Task<> answer(ActiveRunPointer active);
  Task<> produce(ActiveRunPointer active, RunOutcome& outcome);
  Task<RunOutcome> answer_without_model(ActiveRunPointer active, std::shared_ptr<const RunRequest> run_request);
  Task<> save(ActiveRunPointer active, RunOutcome outcome);
  Task<bool> end(ActiveRunPointer active, const RunOutcome& outcome);
  Task<bool> end_with_turn(ActiveRunPointer active, const RunOutcome& outcome, Runs::Ending ending, Runs::AtEnd at_end);
  void watch_provider(const Run& run, const RunOutcome& outcome) const;

  const EngineServices services_;
  ModelLimits limits_;
  RunRequests run_requests_;
  StopSource stopping_;
  Titles titles_;
  std::set<std::string, std::less<>> working_threads_;  ///< threads that have a worker
  std::vector<std::weak_ptr<const Delegation>> delegations_;
  StopUnopened stop_unopened_;
  TaskGroup workers_;
  const ThreadChecker thread_;
};

/// The routes of `/chat`, `/client-tools`, `/chat/stop`, deleting and answering turns, the events of runs, modes, and
/// the prompts of agents.
std::vector<Route> chat_routes(Engine& engine, ClientTools& client_tools, Threads& threads, Runs& runs, Stages& stages);

/// Delegate: gives a task to another agent, in a new thread, and waits for its answer.
Tool delegate_tool(Engine& engine);
/// FindTools: offers deferred tools that match a query.
Tool find_tools_tool();

}  // namespace agw
