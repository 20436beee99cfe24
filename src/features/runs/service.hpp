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

#include "base/cut.hpp"
#include "base/group.hpp"
#include "features/events/hub.hpp"
#include "features/runs/run_log.hpp"
#include "storage/along.hpp"
#include "storage/database.hpp"

namespace agw {

/// A run that waits or is under way. The log and what a client sees of it are kept by Runs; who answers holds the stop.
struct ActiveRun {
  ActiveRun(Loop& loop, Run what);

  Run run;
  RunLog log;
  Stop stop;
  bool recorded = false;  ///< its row is on disk
  bool started = false;
  json::array tools;               ///< calls under way, `{toolCallId, toolName, input}` each, for `active_run`
  std::vector<std::string> turns;  ///< ids of those that its calls have made
  asio::steady_timer ended;        ///< cancelled when the run has ended
  bool has_ended = false;
  bool has_stopped = false;                ///< it has ended with `stopped`
  bool wants_room = false;                 ///< its end waits for room on the disk
  bool is_ending = false;                  ///< its last event is in the log, and not told yet
  asio::steady_timer::time_point began{};  ///< when it was its turn
  json::object progress;                   ///< of the answer's metadata what is known so far, kept with its text
  std::size_t taken = 0;                   ///< bytes of text that are on disk or in `unsaved`
  std::int64_t taken_seq = 0;              ///< the last event that is
  std::int64_t pieces = 0;
  std::vector<RunPiece> unsaved;  ///< in order: those of which it is not known that they are on disk
};
using ActiveRunPointer = std::shared_ptr<ActiveRun>;

/// Runs in order on each thread, their events, what a client that lost its connection can still fetch, and the text
/// that survives a kill.
class Runs {
public:
  Runs(Loop& loop, Database& database, Hub& hub, const Clock& clock);
  ~Runs();

  void start();
  /// Ends the background work. No run is active any more.
  Task<> stop();

  /// Puts a run behind those of its thread, before its row is written: from now on the thread is in use. The caller
  /// either writes the row with `record` or takes the run back with `withdraw`.
  ActiveRunPointer open(Run run);
  void withdraw(const ActiveRunPointer& active);
  /// Writes the run's row, inside the write that stores its question.
  static void record(Connection& connection, const Run& run, Timestamp now);

  /// The run whose turn it is on the thread; null where there is none.
  ActiveRunPointer front(std::string_view thread_id) const;
  std::vector<ActiveRunPointer> of_thread(std::string_view thread_id) const;
  std::vector<ActiveRunPointer> all() const;
  bool thread_in_use(std::string_view thread_id) const { return !of_thread(thread_id).empty(); }
  bool turn_in_use(std::string_view turn_id) const;

  /// Runs whose turn it is on their threads.
  std::size_t running() const { return by_thread_.size(); }
  /// Runs that wait for one of these.
  std::size_t waiting() const;
  /// How many ended since the gateway started, by `stopped` or the reason of `finish`.
  const std::map<std::string, std::uint64_t>& ended() const { return ended_; }

  // Events of a run under way: logged and published.

  void text(ActiveRun& active, std::string_view delta);
  void reasoning(ActiveRun& active, std::string_view delta);
  void emit(ActiveRun& active, std::string_view type, const json::object& members);

  // A tool call of a run under way: its events, and its place among those under way.

  void begin_call(ActiveRun& active, json::object call);      ///< `{toolCallId, toolName, input}`
  void end_call(ActiveRun& active, const json::object& end);  ///< the members of `tool-end`

  /// Stores, before the tools of a step begin, that they do, along with all text until then.
  Task<> keep_step(ActiveRunPointer active, RunStep step, std::function<void(Connection&)> along);

  /// What ends with the run, in the same transaction. Called only where this is the run's one end.
  using AtEnd = std::function<void(Connection&)>;
  /// The last event of a run, told after its transaction.
  struct Ending {
    RunStatus status = RunStatus::finished;
    std::string type;  ///< `finish` or `stopped`
    json::object members;
    std::string error;  ///< why it failed, for the log; empty where it did not
  };
  /// Ends the run exactly once: row, log and `at_end` in one transaction, then the event, then its place on the thread
  /// is free. False when it had ended already; then nothing was done.
  Task<bool> end(ActiveRunPointer active, Ending ending, AtEnd at_end, std::function<void()> before_event = {});

  /// `{runId, turnId, seq, text, tools}` of the thread's run under way.
  std::optional<json::value> active_run(std::string_view thread_id) const;
  /// What is under way on the threads, with `threadId` and `reasoning`; on all for a null pointer.
  json::array under_way(const std::set<std::string, std::less<>>* threads) const;
  /// The events of a run of the thread after a `seq`, as a JSON array. Empty for an unknown or forgotten run.
  Task<std::string> events(std::string thread_id, EventsQuery query);

  /// What a killed gateway left behind; asked once, at the start, before anything runs.
  static std::vector<InterruptedRun> interrupted(Connection& connection);
  /// Ends such a run; `at_end` stores what is left of its answer.
  static void end_interrupted(Connection& connection, const InterruptedRun& interrupted, Timestamp now,
                              const std::function<void()>& at_end);

private:
  void begin_checkpoints();
  Task<> keep_checkpoints();
  Task<> checkpoint(ActiveRunPointer active);
  /// Puts what is new of the text and its events with what is not on disk yet.
  static void take_piece(ActiveRun& active);
  /// Writes what is not on disk yet, and `along`.
  Task<> keep_pieces(ActiveRunPointer active, std::function<void(Connection&)> along, Database::Lane lane);
  Task<> forget_old();
  /// The number of the latest event that was told.
  static std::int64_t told(const ActiveRun& active);
  void publish(const ActiveRun& active, std::string_view type, std::string text);

  Loop& loop_;
  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  std::map<std::string, std::deque<ActiveRunPointer>, std::less<>> by_thread_;
  std::map<std::string, std::uint64_t> ended_;
  Group background_;
  Stop stopping_;
  bool checkpointing_ = false;
};

}  // namespace agw
