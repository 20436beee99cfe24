#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.hpp"
#include "features/threads/types.hpp"
#include "storage/along.hpp"

namespace agw {

class Connection;
class Database;
class Hub;
class SearchIndexer;

namespace thread_store {
struct PreparedThread;
}

/// What this room must know of rooms that it cannot see. All are asked on the loop and answer from memory.
struct ThreadLinks {
  struct Agent {
    std::string id;
    std::optional<ThreadMode> mode;  ///< what its new threads take
  };
  /// The agent extension of that id or name.
  std::function<std::optional<Agent>(std::string_view id_or_name)> agent;
  /// The id of the job extension of that id or name.
  std::function<std::optional<std::string>(std::string_view id_or_name)> job_id;
  std::function<bool(std::string_view project_id)> project_exists;
  /// Whether a run is under way or waits on the thread: true from before the write that starts it is queued.
  std::function<bool(std::string_view thread_id)> thread_in_use;
  /// Whether a run that is under way or waits answers the turn or made it.
  std::function<bool(std::string_view turn_id)> turn_in_use;
  /// Takes the run that only waits to answer the turn, where there is one, out of its thread's queue. May be empty.
  std::function<Task<>(std::string turn_id)> drop_waiting;
  /// What `GET /threads/:id` shows as `active_run`.
  std::function<std::optional<json::value>(std::string_view thread_id)> active_run;
  /// Told of every new thread once it is on disk. May be empty.
  std::function<void(const Thread& thread)> created;
};

/// A turn that the gateway itself inserts.
struct AddTurn {
  std::string thread_id;
  Role role{};
  std::string content;
  std::optional<json::object> metadata;
  std::optional<std::string> id;           ///< where it was allocated before; else a new one
  std::optional<std::string> in_reply_to;  ///< the user turn that it answers: orders it for the model
};

/// A turn with all that is made before its write: id and times.
struct PreparedTurn {
  Turn turn;
  std::optional<std::string> in_reply_to;
  std::int64_t moment = 0;  ///< see Threads::next_moment
};

/// What inserting a turn left behind.
struct AddedTurn {
  Turn turn;
  Thread thread;
};

/// A fork, inside the write that makes it.
struct Fork {
  const std::string& original_id;
  const std::string& copy_id;
  /// The copy's id of a turn of the original; nothing where the turn was not copied.
  std::function<std::optional<std::string>(const std::string& turn_id)> copy_of;
};

/// The first turns of a conversation, as models see it, that a summary stands for.
struct SummarisedTurns {
  std::string last_turn_id;
  std::int64_t count = 0;  ///< of them; another number later tells that one was deleted or answered anew
};

/// What a model is shown of a conversation.
struct ThreadContext {
  std::vector<Turn> turns;     ///< oldest first
  std::size_t cut_short = 0;   ///< of the first so many no more than the beginning is there
  bool is_whole = true;        ///< none was left out or cut short, but for those that are summarised
  bool summary_holds = false;  ///< the summary that was asked about still stands for what it did
};

/// Threads, their turns, and the search over them. Writes are on disk when they return and are published to the Hub.
/// Unknown ids throw NotFound (`thread not found`, `turn not found`).
class Threads {
public:
  Threads(Loop& loop, Database& database, Hub& hub, const Clock& clock, ThreadLinks links);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// Begins to index turns and to purge deleted threads in the background, until `stop` has returned.
  void start();
  Task<> stop();

  // Threads. `along` runs in the same transaction.

  /// Throws NotFound `project not found`.
  Task<Thread> create(NewThread wanted, Along<Thread> along = {});
  Task<Thread> require(std::string id);
  Task<ThreadDetail> detail(std::string id);
  /// Whether its title is one that a person gave it.
  Task<bool> is_named(std::string id);
  Task<Thread> change(std::string id, ThreadChange change);
  /// Throws Conflict `thread is in use`. The thread is gone at once; its turns are purged in pieces behind.
  Task<> remove(std::string id);
  /// Newest `updated_at` first.
  Task<std::vector<Thread>> list(ThreadFilter filter);
  /// The same as JSON text, written off the loop: a list may have 100,000 entries.
  Task<std::string> list_text(ThreadFilter filter);
  /// A new thread with copies of the turns up to and with that one, under new ids. At a turn that was superseded it is
  /// the conversation as it stood when that was its last.
  Task<Thread> fork(std::string id, ForkPoint point, Along<Thread> along = {});
  /// What takes along in a fork what else is kept of a thread, in the same transaction.
  void at_fork(std::function<void(Connection&, const Fork&)> at_fork) { at_fork_ = std::move(at_fork); }
  /// A title that was made in the background: its first words are taken unless a person has named the thread. Does not
  /// move `updated_at`.
  Task<> suggest_title(std::string id, std::string text);

  // Turns.

  Task<Turn> add_turn(AddTurn wanted, Along<Turn> along = {});
  /// A new thread, whose id is `first.thread_id`, and its first turn: both or neither.
  Task<Turn> begin(NewThread wanted, AddTurn first, Along<Turn> along);
  /// For a write that inserts a turn along with other records: `prepare` on the loop, `insert_in` inside the write
  /// (again when the write is run again; throws NotFound), `announce` on the loop once it is committed.
  PreparedTurn prepare(AddTurn&& wanted);
  static AddedTurn insert_in(Connection& connection, const PreparedTurn& prepared);
  void announce(const AddedTurn& added) { announce(added.turn, added.thread); }

  /// Throws Conflict `turn is in use`.
  Task<> remove_turn(std::string id);
  Task<Turn> require_turn(std::string id);
  /// Newest first. Throws BadRequest `before must be a turn of this thread`.
  Task<std::vector<Turn>> turns(std::string thread_id, TurnFilter filter);
  Task<std::string> turns_text(std::string thread_id, TurnFilter filter);

  /// The newest turns of all threads of an agent, newest first.
  Task<std::vector<ActivityRow>> activity(std::string agent_id, Limit limit);

  // For runs.

  /// What a model is shown to answer `question_id`: the turns up to and with it, oldest first, without superseded ones;
  /// an answer stands behind its question even where another question was asked meanwhile. Of these the newest whose
  /// content and metadata come to at most `max_bytes` together, and the question in any case. Those that are
  /// `summarised`, if that still holds, are left out.
  Task<ThreadContext> context(std::string thread_id, std::string question_id, std::size_t max_bytes,
                              std::optional<SummarisedTurns> summarised = {});
  /// The same, inside a read or write, to sum up what does not fit: of turns that are more than `max_bytes` the
  /// beginnings, which come to at most `max_beginnings`.
  static ThreadContext context_to_summarise(Connection& connection, const std::string& question_id,
                                            std::size_t max_bytes, std::size_t max_beginnings,
                                            const std::optional<SummarisedTurns>& summarised);
  /// The turns of the conversation up to and with `last_turn_id`, inside a read or write. Throws NotFound.
  static SummarisedTurns summarise_up_to(Connection& connection, const std::string& last_turn_id);
  /// Whether they still are what they were then, inside a read or write.
  static bool still_stand(Connection& connection, const SummarisedTurns& summarised);
  /// Says, in a `thread-updated`, that models read a summary of the thread's older turns from now on.
  void announce_compaction(const Thread& thread);
  /// The ids of the run's tool calls that have a turn, inside a read or write.
  static std::set<std::string, std::less<>> tool_calls_answered(Connection& connection, const std::string& thread_id,
                                                                const std::string& run_id);
  /// The user turn that stands for `turn_id`: itself, the one that an assistant's or tool's turn answers, or for one
  /// that answers none the latest before it. NotFound `turn not found` where there is none, or none any more.
  Task<Turn> question_of(std::string turn_id);
  /// The assistant's turn that stands for `turn_id`: itself, or the newest that answers the same question; nothing
  /// where there is none. Throws like `question_of`.
  Task<std::optional<Turn>> answer_of(std::string turn_id);
  /// Marks every turn of the thread after `question_id` (a user turn) as superseded, the question itself as not.
  /// `along` is for the row of the run that answers again.
  Task<Turn> supersede_after(std::string question_id, Along<Turn> along = {});

  // Search.

  /// The turns of an agent (or of one of its threads) that match, best first. Never fails for what `q` is, and never
  /// misses a turn that was inserted before.
  Task<std::vector<FoundTurn>> search(TurnSearch wanted);
  Task<std::string> search_text(TurnSearch wanted);
  /// Returns once every turn that is there now is indexed.
  Task<> index_all();

private:
  /// Microseconds, greater than every one before: `updated_at` with an order within its millisecond.
  std::int64_t next_moment();
  std::shared_ptr<thread_store::PreparedThread> prepare(NewThread&& wanted, std::string id);
  void publish(const Thread& thread);
  void announce_new(const Thread& thread);
  void announce(const Turn& turn, const Thread& thread);
  std::string agent_id_of(std::string_view id_or_name) const;
  ThreadFilter resolved(ThreadFilter filter) const;

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  ThreadLinks links_;
  std::function<void(Connection&, const Fork&)> at_fork_;
  std::int64_t last_moment_ = 0;
  std::unique_ptr<SearchIndexer> indexer_;
};

}  // namespace agw
