#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "base/async/wait_clock.hpp"
#include "base/text/long_text.hpp"
#include "features/events/hub.hpp"
#include "features/runs/run_client.hpp"
#include "features/runs/run_log.hpp"
#include "storage/database.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

/// A queued or active run. `Runs` maintains its log and events; the room that answers owns `stop`.
struct ActiveRun {
  ActiveRun(Loop& loop, Run what);

  Run run;
  RunLog log;
  StopSource stop;
  bool recorded = false;  ///< its row is on disk
  bool started = false;
  json::array tools;                       ///< active calls, `{toolCallId, toolName, input}` each, for `active_run`
  std::vector<std::string> turns;          ///< ids of the turns that its calls have created
  AsyncEvent ended;                        ///< also pulsed when storing its end has failed
  bool has_stopped = false;                ///< it has ended with `stopped`
  bool waits_for_disk_space = false;       ///< its end cannot be stored until there is space on the disk
  std::shared_ptr<RunClient> client;       ///< the program that follows it; may be null
  bool is_ending = false;                  ///< its last event is in the log, but not published yet
  asio::steady_timer::time_point began{};  ///< when it became the first run of its thread
  json::object progress;                   ///< the answer's metadata so far, stored with its text
  std::size_t taken = 0;                   ///< bytes of text that are on disk or in `unsaved`
  std::size_t new_bytes = 0;               ///< bytes of text and reasoning that are not in a piece yet
  std::int64_t taken_seq = 0;              ///< the last event that is on disk or in `unsaved`
  std::int64_t pieces = 0;
  WaitClock person_waits;      ///< how long its calls, and those of runs that it led to, waited for a person
  std::size_t refusals = 0;    ///< how many of these calls a person did not allow
  bool takes_requests = true;  ///< false: it is about to end, and no person is asked through it any more
  std::vector<std::shared_ptr<const RunPiece>> unsaved;  ///< pieces that may not be on disk yet, in order
};
using ActiveRunPointer = std::shared_ptr<ActiveRun>;

/// The queues of runs, one for each thread. Publishes the events of runs, serves them to clients that lost their
/// connection, and stores the text so that it survives a kill.
/// Example: src/features/runs/service_test.cpp: Runs.KeepTheTextOfAStepThatCouldNotBeStoredWithTheNext
class Runs {
public:
  Runs(Loop& loop, Database& database, Hub& hub, const Clock& clock);
  ~Runs();

  void start();
  /// Ends the background work. No run may be active.
  Task<> stop();

  /// Queues a run after those of its thread, which counts as in use from now on. The caller must then write the run's
  /// row with `record`, or remove the run with `withdraw`.
  ActiveRunPointer open(Run run);
  void withdraw(const ActiveRunPointer& active);
  /// Writes the run's row, inside the write that stores its question.
  static void record(Connection& connection, const Run& run, Timestamp now);

  /// The first run of the thread's queue; null if there is none.
  ActiveRunPointer front(std::string_view thread_id) const;
  std::vector<ActiveRunPointer> of_thread(std::string_view thread_id) const;
  std::vector<ActiveRunPointer> all() const;
  bool thread_in_use(std::string_view thread_id) const { return !of_thread(thread_id).empty(); }
  bool turn_in_use(std::string_view turn_id) const;

  /// Waits until no run is active or queued.
  Task<> until_none();

  /// Whether the run exists, or has ended in the last ten minutes.
  Task<bool> exists(std::string id);

  /// Whether a run that answers the message has not ended: here, on another node, or left by a kill until it is ended.
  Task<bool> is_being_answered(std::string turn_id);

  /// The number of runs that are the first of their threads.
  std::size_t running() const { return by_thread_.size(); }
  /// The number of runs queued after those.
  std::size_t waiting() const;
  /// How many runs have ended since the gateway started, by `stopped` or the reason of `finish`.
  const std::map<std::string, std::uint64_t>& ended() const { return ended_; }

  /// Publishes that the run has become the first of its thread. The event has no `seq` and is not logged: clients that
  /// missed it find the active run in its thread.
  void announce_start(const ActiveRun& active);

  // These log and publish an event of an active run.

  void text(ActiveRun& active, std::string_view delta);
  void reasoning(ActiveRun& active, std::string_view delta);
  void emit(ActiveRun& active, std::string_view type, const json::object& members);

  // These publish the events of a tool call of an active run, and list the call while it is active.

  void begin_call(ActiveRun& active, json::object call);      ///< `{toolCallId, toolName, input}`
  void end_call(ActiveRun& active, const json::object& end);  ///< the members of `tool-end`

  /// Stores that the tools of a step are about to be called, and all text so far.
  Task<> store_step(ActiveRunPointer active, RunStep step, std::function<void(Connection&)> in_transaction);

  /// Ends the runs of `waiting`, which have not begun, because their messages join `into`, the run before them on their
  /// thread, after its first `after_step` steps. `in_transaction` moves the messages in the same transaction. Publishes
  /// `steered` for each message, and no end of their runs.
  Task<> steer(ActiveRunPointer into, std::vector<ActiveRunPointer> waiting, std::int64_t after_step,
               std::function<void(Connection&)> in_transaction);

  /// Writes further rows in the transaction that ends the run. Called only if the run had not ended before.
  using AtEnd = std::function<void(Connection&)>;
  /// The last event of a run, published after the transaction that ends it.
  struct Ending {
    RunStatus status = RunStatus::finished;
    std::string type;  ///< `finish` or `stopped`
    json::object members;
    std::string error;  ///< why it failed, for the log; empty if it did not
  };
  /// Ends the run exactly once: writes the row, the log and `at_end` in one transaction, publishes the event, then
  /// removes the run from its thread's queue. Returns false, and publishes nothing, if it had already ended.
  Task<bool> end(ActiveRunPointer active, Ending ending, AtEnd at_end, std::function<void()> before_event = {});

  /// `{runId, turnId, seq, text, tools}` of the thread's active run.
  std::optional<json::value> active_run(std::string_view thread_id) const;
  /// The active runs of the threads, with `threadId` and `reasoning`; of all threads for a null pointer.
  json::array active(const std::set<std::string, std::less<>>* threads) const;
  /// The same as JSON text, generated while it is read.
  std::unique_ptr<LongText> active_text(const std::set<std::string, std::less<>>* threads) const;
  /// The events of a run of the thread after a `seq`, as a JSON array. Empty for an unknown run, and for one that was
  /// already deleted.
  Task<std::string> events(std::string thread_id, EventsQuery query);

  /// The runs that a killed gateway left. Call it once, at the start, before anything runs.
  static std::vector<InterruptedRun> interrupted(Connection& connection);
  /// Ends a run that a killed gateway left; `at_end` stores the part of its answer that survived.
  static void end_interrupted(Connection& connection, const InterruptedRun& interrupted, Timestamp now,
                              const std::function<void()>& at_end);

private:
  /// Schedules a checkpoint for the `bytes` that were just added to the log.
  void logged(ActiveRun& active, std::size_t bytes);
  void begin_checkpoints();
  Task<> write_checkpoints();
  Task<> checkpoint(ActiveRunPointer active);
  /// Adds the new text and its events to `unsaved` as a piece.
  static void take_piece(ActiveRun& active);
  /// Writes `unsaved` to disk, and calls `in_transaction` in the same transaction.
  Task<> store_pieces(ActiveRunPointer active, std::function<void(Connection&)> in_transaction, Database::Lane lane);
  Task<> forget_old();
  /// The `seq` of the latest published event.
  static std::int64_t published_seq(const ActiveRun& active);
  void publish(const ActiveRun& active, std::string_view type, std::string text);

  Loop& loop_;
  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  std::map<std::string, std::deque<ActiveRunPointer>, std::less<>> by_thread_;
  AsyncEvent all_ended_;  ///< pulsed when no run is active or queued any more
  std::map<std::string, std::uint64_t> ended_;
  TaskGroup background_;
  StopSource stopping_;
  bool checkpointing_ = false;
};

}  // namespace agw
