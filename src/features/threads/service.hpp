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
struct PreparedImport;
}

/// A turn that the gateway itself inserts.
struct AddTurn {
  std::string thread_id;
  Role role{};
  std::string content;
  std::optional<json::object> metadata;
  std::optional<std::string> id;           ///< if allocated before; else it gets a new one
  std::optional<std::string> in_reply_to;  ///< the user turn that it answers: orders it for the model
  /// The question that it is another version of: superseded with all turns after it. Becomes a member of its metadata.
  std::optional<std::string> replaces;
};

/// A turn with everything that is created before its write: id and times.
struct PreparedTurn {
  Turn turn;
  std::optional<std::string> in_reply_to;
  std::optional<std::string> replaces;
  std::int64_t moment = 0;  ///< see Threads::next_moment
};

/// The place of a message in the answer that it was steered into.
struct SteeredPlace {
  std::string question_id;  ///< of the user turn that is answered
  std::string run_id;
  std::int64_t after_step = 0;  ///< the message follows the results of so many steps
};

/// The result of inserting a turn.
struct AddedTurn {
  Turn turn;
  Thread thread;
  /// The message to clients of a turn that is too long to be written as JSON on the loop.
  std::shared_ptr<const std::string> message{};
};

/// A fork, inside the write that makes it.
struct Fork {
  const std::string& original_id;
  const std::string& copy_id;
  /// The id of the copy of a turn of the original; no value if the turn was not copied.
  std::function<std::optional<std::string>(const std::string& turn_id)> copy_of;
};

/// The first turns of a conversation, as models see it, that a summary replaces.
struct SummarisedTurns {
  std::string last_turn_id;
  std::int64_t count = 0;  ///< of them; if it differs later, one was deleted or answered again
};

/// The turns of a thread that are followed by enough others, see Threads::old_turns.
struct OldTurns {
  std::string last_turn_id;      ///< the last of them that models see
  std::string next_question_id;  ///< the user turn after them
};

/// The part of a conversation that a model is shown.
struct ThreadContext {
  std::vector<Turn> turns;     ///< oldest first
  std::size_t cut_short = 0;   ///< how many of the first turns are truncated to their beginning
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
  /// Throws Conflict `thread is in use`. The thread is gone at once; its turns are purged in the background.
  Task<> remove(std::string id);
  /// Newest `updated_at` first.
  Task<std::vector<Thread>> list(ThreadFilter filter);
  /// The same as JSON text, written off the loop: a list may have 100,000 entries.
  Task<std::string> list_text(ThreadFilter filter);
  /// A new thread with copies of the turns up to and including that one, under new ids. For a superseded turn, it is
  /// the conversation as it was when that turn was the last. The list of tasks is copied with the whole thread only.
  Task<Thread> fork(std::string id, ForkPoint point, InTransaction<Thread> in_transaction = {});
  /// Sets the function that copies other records of a thread into its fork, in the same transaction.
  void at_fork(std::function<void(Connection&, const Fork&)> at_fork) { at_fork_ = std::move(at_fork); }
  /// Sets the function that is called, on the loop, when a thread has been deleted.
  void at_remove(std::function<void(const std::string& id)> at_remove) { at_remove_ = std::move(at_remove); }
  /// Sets a title that was generated in the background (its first words), unless a person has named the thread. Does
  /// not change `updated_at`.
  Task<> suggest_title(std::string id, std::string text);

  // Turns.

  Task<Turn> add_turn(AddTurn wanted, InTransaction<Turn> in_transaction = {});
  /// All of them, in this order, in one transaction: or none.
  Task<> add_turns(std::vector<AddTurn> wanted);
  /// A new thread, whose id is `first.thread_id`, and its first turn: both or neither.
  Task<Turn> begin(NewThread wanted, AddTurn first, InTransaction<Turn> in_transaction);
  /// For a write that inserts a turn and other records: `prepare` on the loop, `insert_in` inside the write (again if
  /// the write is repeated; throws NotFound), `announce` on the loop after the commit.
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

  // Moving in and out.

  /// A page of a thread's turns, oldest first, as JSON text; without `hidden` if it is for others. Throws BadRequest
  /// `after must be a turn of this thread`.
  Task<std::string> transcript_text(std::string thread_id, TranscriptQuery query, FilledSecrets hidden);
  /// Creates threads and turns of another program, or of an export. What an earlier batch created is left unchanged, so
  /// a batch may be sent again. No job is started by it. Throws BadRequest for a key that cannot be, NotFound `project
  /// not found`, Conflict `turn belongs to another thread`.
  Task<ImportResult> import(ImportBatch batch);

  // For runs.

  /// The turns that a model is shown to answer `question_id`: those up to and including it, oldest first, without
  /// superseded ones. An answer follows its question, even if another question was asked before it came. Returns the
  /// newest ones whose content and metadata are at most `max_bytes` together, and always the question. Leaves out the
  /// `summarised` turns if they are still the same.
  Task<ThreadContext> context(std::string thread_id, std::string question_id, std::size_t max_bytes,
                              std::optional<SummarisedTurns> summarised = {});
  /// The same, inside a read or write, to summarise what does not fit: turns beyond `max_bytes` are truncated to their
  /// beginnings, at most `max_beginnings` bytes together.
  static ThreadContext context_to_summarise(Connection& connection, const std::string& question_id,
                                            std::size_t max_bytes, std::size_t max_beginnings,
                                            const std::optional<SummarisedTurns>& summarised);
  /// The turns of the conversation up to and including `last_turn_id`, inside a read or write. Throws NotFound.
  static SummarisedTurns summarise_up_to(Connection& connection, const std::string& last_turn_id);
  /// The turns before the newest ones, at most `kept` less one, that begin with a question; no value if there are none
  /// to remove. Inside a read or write. Throws NotFound.
  static std::optional<OldTurns> old_turns(Connection& connection, const std::string& thread_id, std::size_t kept);
  /// Removes all turns of the thread that were inserted before that one, a few in each transaction, which
  /// `in_transaction` is part of. Throws NotFound.
  Task<> remove_before(std::string thread_id, std::string turn_id, std::function<void(Connection&)> in_transaction);
  /// Whether they are unchanged since, inside a read or write.
  static bool still_stand(Connection& connection, const SummarisedTurns& summarised);
  /// Replaces the thread's list of tasks, for a run of its agent, and publishes `tasks-updated`.
  Task<> set_tasks(std::string thread_id, std::string run_id, std::vector<ThreadTask> tasks);
  /// Publishes, in a `thread-updated`, that models read a summary of the thread's older turns from now on.
  void announce_compaction(const Thread& thread);
  /// Makes the user turn part of the answer of a run: it stands there in the conversation from now on, and its metadata
  /// has `run_id` and `after_step`. Inside a write. Returns the changed turn. Throws NotFound `turn not found`.
  static Turn steer(Connection& connection, const std::string& turn_id, const SteeredPlace& place);
  /// The ids of the run's tool calls that have a turn, inside a read or write.
  static std::set<std::string, std::less<>> tool_calls_answered(Connection& connection, const std::string& thread_id,
                                                                const std::string& run_id);
  /// The question that `turn_id` belongs to: itself for a user turn, else the user turn that it answers or, if it
  /// answers none, the latest one before it. Throws NotFound `turn not found` if there is no such turn, or no longer.
  Task<Turn> question_of(std::string turn_id);
  /// The answer that `turn_id` belongs to: itself for an assistant's turn, else the newest answer to the same question.
  /// For a message that was steered into an answer, that answer. No value if there is none. Throws like `question_of`.
  Task<std::optional<Turn>> answer_of(std::string turn_id);
  /// Marks every turn of the thread after `question_id` (a user turn) as superseded, and unmarks the question itself. A
  /// message that was steered into an answer becomes a separate question, which follows that answer. `in_transaction`
  /// inserts the row of the run that answers again.
  Task<Turn> supersede_after(std::string question_id, InTransaction<Turn> in_transaction = {});

  // Search.

  /// The matching turns of an agent (or of one of its threads), best first. Every `q` is valid. Finds every turn that
  /// was inserted before the call.
  Task<std::vector<FoundTurn>> search(TurnSearch wanted);
  Task<std::string> search_text(TurnSearch wanted);
  /// Returns when every turn that exists now is indexed.
  Task<> index_all();

private:
  /// Microseconds, greater than all previous results: `updated_at`, with an order within a millisecond.
  std::int64_t next_moment();
  std::shared_ptr<thread_store::PreparedThread> prepare(NewThread&& wanted, std::string id);
  transfer_store::PreparedImport prepare_import(ImportedThread thread, const std::string& source, Timestamp now);
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
  std::function<void(const std::string& id)> at_remove_;
  std::int64_t last_moment_ = 0;
  std::unique_ptr<SearchIndexer> indexer_;
};

/// `/threads` and `/turns`, except the endpoints that start or end runs.
std::vector<Route> thread_routes(Threads& threads, const Secrets& secrets, BlockingPool& blocking);

/// SearchTurns: the search over the turns of the calling agent.
Tool search_turns_tool(Threads& threads);

/// Tasks: replaces the list of tasks of the run's thread.
Tool tasks_tool(Threads& threads);

/// Tells whether a person or a search named a URL in the run's thread. The text by which another agent delegated its
/// work does not count. `threads` must outlive the result.
std::function<Task<bool>(const ToolRun& run, const WebUrl& url)> named_urls(Threads& threads);

}  // namespace agw
