#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task.hpp"
#include "features/threads/transfer_types.hpp"
#include "features/threads/types.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

class WebUrl;
struct Tool;
struct ToolRun;
struct Route;
class BlockingPool;
class Connection;
class Database;
class Extensions;
class FilledSecrets;
class Hub;
class Projects;
class Runs;
class SearchIndexer;
class Secrets;

namespace thread_store {
struct PreparedThread;
}
namespace transfer_store {
struct CheckedImport;
struct PreparedImport;
}  // namespace transfer_store

/// A turn that the gateway itself inserts.
struct AddTurn {
  std::string thread_id;
  Role role{};
  std::string content;
  std::optional<json::object> metadata;
  std::optional<std::string> id;           ///< if already allocated; otherwise a new one is created
  std::optional<std::string> in_reply_to;  ///< the user turn that it answers; models see it after that turn
  /// The question that this turn is an edited version of. That question and all turns after it are superseded. Stored
  /// as a member of the metadata.
  std::optional<std::string> replaces;
};

/// A turn with the values that are generated before its write: id and times.
struct PreparedTurn {
  Turn turn;
  std::optional<std::string> in_reply_to;
  std::optional<std::string> replaces;
  std::int64_t moment = 0;  ///< see Threads::next_moment
};

/// The place of a message in the answer that it was steered into.
struct SteeredPlace {
  std::string question_id;  ///< the user turn that is answered
  std::string run_id;
  std::int64_t after_step = 0;  ///< the number of steps whose results precede the message
};

/// The result of inserting a turn.
struct AddedTurn {
  Turn turn;
  Thread thread;
  /// The serialised event, only for a turn that is too long to be serialised on the loop.
  std::shared_ptr<const std::string> message{};
};

/// A fork, inside the write that creates it.
struct Fork {
  const std::string& original_id;
  const std::string& copy_id;
  /// The id of the copy of a turn of the original; no value if the turn was not copied.
  std::function<std::optional<std::string>(const std::string& turn_id)> copy_of;
};

/// The first turns of a conversation, as models see it, which a summary replaces.
struct SummarisedTurns {
  std::string last_turn_id;
  std::int64_t count = 0;  ///< a later difference means that a turn was deleted or answered again
};

/// The turns of a thread that may be removed, see Threads::old_turns.
struct OldTurns {
  std::string last_turn_id;      ///< the last of the old turns that models see
  std::string next_question_id;  ///< the user turn that follows the old turns
};

/// The part of a conversation that a model is shown.
struct ThreadContext {
  std::vector<Turn> turns;     ///< oldest first
  std::size_t cut_short = 0;   ///< how many of the first turns are truncated
  bool is_whole = true;        ///< no turn is missing or truncated, except for summarised ones
  bool summary_holds = false;  ///< the given summary still matches the turns that it replaces
};

/// Threads, their turns, and the search over them. Writes are on disk when they return and are published to the Hub.
/// Unknown ids throw NotFound (`thread not found`, `turn not found`).
/// Example: src/features/threads/service_test.cpp: Threads.AreForkedUpToATurn
class Threads {
public:
  Threads(Loop& loop, Database& database, Hub& hub, const Clock& clock, const Projects& projects, const Runs& runs,
          const Extensions& extensions);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// Starts to index turns and to purge deleted threads in the background, until `stop` has returned.
  void start();
  Task<> stop();

  // Threads. `in_transaction` runs in the same transaction.

  /// Throws NotFound `project not found`.
  Task<Thread> create(NewThread wanted, InTransaction<Thread> in_transaction = {});
  Task<Thread> require(std::string id);
  Task<ThreadDetail> detail(std::string id);
  /// Whether a person chose its title.
  Task<bool> is_named(std::string id);
  Task<Thread> change(std::string id, ThreadChange change);
  /// Throws Conflict `thread is in use`. The thread is removed immediately; its turns are purged in the background.
  Task<> remove(std::string id);
  /// Newest `updated_at` first.
  Task<std::vector<Thread>> list(ThreadFilter filter);
  /// The same as JSON text, written off the loop: a list may have 100,000 entries.
  Task<std::string> list_text(ThreadFilter filter);
  /// Creates a thread with copies of the turns up to and including the one at `point`, under new ids. For a superseded
  /// turn, the copy is the conversation as it was when that turn was the last. The list of tasks is copied only if
  /// `point` names no turn.
  Task<Thread> fork(std::string id, ForkPoint point, InTransaction<Thread> in_transaction = {});
  /// Sets the function that copies other records of a thread into its fork, in the same transaction.
  void at_fork(std::function<void(Connection&, const Fork&)> at_fork) { at_fork_ = std::move(at_fork); }
  /// Adds a function that is called, on the loop, when a thread has been deleted.
  void at_remove(std::function<void(const std::string& id)> at_remove) { at_remove_.push_back(std::move(at_remove)); }
  /// Sets a title that was generated in the background (its first words), unless a person has named the thread. Does
  /// not change `updated_at`.
  Task<> suggest_title(std::string id, std::string text);

  // Turns.

  Task<Turn> add_turn(AddTurn wanted, InTransaction<Turn> in_transaction = {});
  /// Adds all turns, in this order, or none: in one transaction.
  Task<> add_turns(std::vector<AddTurn> wanted);
  /// Creates a thread with the id `first.thread_id` and its first turn, in one transaction.
  Task<Turn> begin(NewThread wanted, AddTurn first, InTransaction<Turn> in_transaction);
  /// For a write that inserts a turn and other records: call `prepare` on the loop, `insert_in` inside the write (again
  /// if the write is repeated; throws NotFound), and `announce` on the loop after the commit.
  PreparedTurn prepare(AddTurn&& wanted);
  static AddedTurn insert_in(Connection& connection, PreparedTurn prepared);
  void announce(const AddedTurn& added) { announce(added.turn, added.thread, added.message); }

  /// Throws Conflict `turn is in use`.
  Task<> remove_turn(std::string id);
  Task<Turn> require_turn(std::string id);
  /// Newest first. Throws BadRequest `before must be a turn of this thread`.
  Task<std::vector<Turn>> turns(std::string thread_id, TurnFilter filter);
  Task<std::string> turns_text(std::string thread_id, TurnFilter filter);

  /// The newest turns of all threads of an agent, newest first.
  Task<std::vector<ActivityRow>> activity(std::string agent_id, std::string agent_name, Limit limit);

  // Import and export.

  /// A page of a thread's turns, oldest first, as JSON text. If `query.shared` is set, the values of `hidden` are
  /// replaced. Throws BadRequest `after must be a turn of this thread`.
  Task<std::string> transcript_text(std::string thread_id, TranscriptQuery query, FilledSecrets hidden);
  /// The time that an import counts as now, so that it can be checked on another thread.
  Timestamp now() const { return clock_.now(); }
  /// Creates threads and turns of another program, or of an export. Leaves records of an earlier batch unchanged, so a
  /// batch may be sent again. Starts no jobs. Throws NotFound `project not found`, Conflict `turn belongs to another
  /// thread`.
  Task<ImportResult> import(std::vector<transfer_store::CheckedImport> threads);

  // For runs.

  /// The turns that a model sees when it answers `question_id`: those up to and including the question, oldest first,
  /// without superseded ones. An answer follows its question, even if another question was asked before the answer was
  /// stored. Returns the newest ones whose content and metadata total at most `max_bytes`, and always the question.
  /// Omits the `summarised` turns if they are still the same.
  Task<ThreadContext> context(std::string thread_id, std::string question_id, std::size_t max_bytes,
                              std::optional<SummarisedTurns> summarised = {});
  /// The same, inside a read or write.
  static ThreadContext context(Connection& connection, const std::string& thread_id, const std::string& question_id,
                               std::size_t max_bytes, const std::optional<SummarisedTurns>& summarised);
  /// The same, inside a read or write, for a summary of the turns that do not fit: turns beyond `max_bytes` are
  /// truncated to their beginnings, which total at most `max_beginnings` bytes.
  static ThreadContext context_to_summarise(Connection& connection, const std::string& question_id,
                                            std::size_t max_bytes, std::size_t max_beginnings,
                                            const std::optional<SummarisedTurns>& summarised);
  /// The turns of the conversation up to and including `last_turn_id`, inside a read or write. Throws NotFound.
  static SummarisedTurns summarise_up_to(Connection& connection, const std::string& last_turn_id);
  /// The turns that precede the newest ones. The newest ones begin with a question and are fewer than `kept`, unless
  /// the last question alone has more answers. No value if there is nothing to remove. Inside a read or write. Throws
  /// NotFound.
  static std::optional<OldTurns> old_turns(Connection& connection, const std::string& thread_id, std::size_t kept);
  /// Removes all turns of the thread that were inserted before `turn_id`, in transactions of a few turns each. Each
  /// calls `may_remove` first, which ends the removal by returning false, and `in_transaction` last. Throws NotFound.
  Task<> remove_before(std::string thread_id, std::string turn_id, std::function<bool(Connection&)> may_remove,
                       std::function<void(Connection&)> in_transaction);
  /// Whether the turns are unchanged since the summary. Inside a read or write.
  static bool are_turns_unchanged(Connection& connection, const SummarisedTurns& summarised);
  /// Replaces the thread's list of tasks, for a run of its agent, and publishes `tasks-updated`.
  Task<> set_tasks(std::string thread_id, std::string run_id, std::vector<ThreadTask> tasks);
  /// Publishes a `thread-updated` which states that models now read a summary of the thread's older turns.
  void announce_compaction(const Thread& thread);
  /// Moves the user turn into the answer of a run: models see it there from now on, and its metadata has `run_id` and
  /// `after_step`. Inside a write. Returns the changed turn. Throws NotFound `turn not found`.
  static Turn steer(Connection& connection, const std::string& turn_id, const SteeredPlace& place);
  /// The ids of the run's tool calls that have a turn, inside a read or write.
  static std::set<std::string, std::less<>> tool_calls_answered(Connection& connection, const std::string& thread_id,
                                                                const std::string& run_id);
  /// The question that `turn_id` belongs to: a user turn itself; otherwise the user turn that it answers or, if it
  /// answers none, the latest user turn before it. Throws NotFound `turn not found` if either turn does not exist.
  Task<Turn> question_of(std::string turn_id);
  /// The answer that `turn_id` belongs to: an assistant's turn itself; otherwise the newest answer to the same
  /// question. For a message that was steered into an answer, the result is that answer. No value if there is none.
  /// Throws like `question_of`.
  Task<std::optional<Turn>> answer_of(std::string turn_id);
  /// Marks every turn of the thread after `question_id` (a user turn) as superseded, and unmarks the question itself. A
  /// message that was steered into an answer becomes a separate question, which follows that answer. `in_transaction`
  /// inserts the row of the new run.
  Task<Turn> supersede_after(std::string question_id, InTransaction<Turn> in_transaction = {});

  // Search.

  /// The matching turns of an agent (or of one of its threads), best first. Every `q` is valid. Turns inserted before
  /// the call are always searched, indexed or not.
  Task<std::vector<FoundTurn>> search(TurnSearch wanted);
  Task<std::string> search_text(TurnSearch wanted);
  /// Returns once all turns that exist at the call are indexed.
  Task<> index_all();

private:
  /// The current time in microseconds, greater than all previous results. Orders threads that have the same
  /// `updated_at`, which has milliseconds.
  std::int64_t next_moment();
  std::shared_ptr<thread_store::PreparedThread> prepare(NewThread&& wanted, std::string id);
  transfer_store::PreparedImport prepare_import(transfer_store::CheckedImport checked);
  void publish(const Thread& thread, std::string name = {});
  void announce(const Turn& turn, const Thread& thread, std::shared_ptr<const std::string> message = nullptr);
  ThreadFilter resolved(ThreadFilter filter) const;
  TurnSearch resolved(TurnSearch wanted) const;

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  const Projects& projects_;
  const Runs& runs_;
  const Extensions& extensions_;
  std::function<void(Connection&, const Fork&)> at_fork_;
  std::vector<std::function<void(const std::string& id)>> at_remove_;
  std::int64_t last_moment_ = 0;
  std::unique_ptr<SearchIndexer> indexer_;
};

/// `/threads` and `/turns`, except the endpoints that start or end runs.
std::vector<Route> thread_routes(Threads& threads, const Secrets& secrets, BlockingPool& blocking);

/// SearchTurns: the search over the turns of the calling agent.
Tool search_turns_tool(Threads& threads);

/// Tasks: replaces the list of tasks of the run's thread.
Tool tasks_tool(Threads& threads);

/// Returns a function that finds out whether a person or a search named a URL in the run's thread. A message in which
/// another agent delegated work does not count. `threads` must outlive the result.
std::function<Task<bool>(const ToolRun& run, const WebUrl& url)> named_urls(Threads& threads);

}  // namespace agw
