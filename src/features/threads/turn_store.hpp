#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "features/threads/service.hpp"
#include "features/threads/types.hpp"
#include "storage/connection.hpp"

/// The SQL of turns. No function finds turns of deleted threads.
namespace agw::turn_store {

/// A turn, with the numbers of its row, of its thread's row and of the user turn that it answers. Clients do not see
/// them.
struct StoredTurn {
  std::int64_t number = 0;
  std::int64_t thread = 0;
  std::optional<std::int64_t> answers;
  std::size_t bytes = 0;  ///< of content and metadata
  Turn turn;

  /// The number of the question that it answers, else its own: its place in the conversation.
  std::int64_t place() const { return answers.value_or(number); }
};

/// Returns the changed thread. Throws NotFound `thread not found`, or `turn not found` for an unknown turn in
/// `replaces`.
Thread insert(Connection& connection, const PreparedTurn& prepared);

/// A turn to insert, and the resulting thread.
struct Insertion {
  PreparedTurn prepared;
  mutable Thread thread;  ///< set by each run of the write
};

/// Inserts turns that neither replace nor answer others, in this order. Throws NotFound `thread not found`.
void insert_all(Connection& connection, std::span<const Insertion* const> turns);
std::optional<StoredTurn> find(Connection& connection, std::int64_t number);
std::optional<StoredTurn> find(Connection& connection, const std::string& id);
/// Throws NotFound `turn not found`.
StoredTurn require(Connection& connection, const std::string& id);
/// Newest first. Throws NotFound `thread not found`, BadRequest `before must be a turn of this thread`.
void list(Connection& connection, const std::string& thread_id, const TurnFilter& filter,
          const std::function<void(const Turn&)>& each);
/// Removes the row and returns its thread with the reduced count.
Thread remove(Connection& connection, const StoredTurn& stored, std::int64_t moment);

/// Visits the turns that a model sees when it answers `question`, in reverse order of insertion, until `more` returns
/// false.
void walk_back(Connection& connection, const StoredTurn& question, const std::function<bool(StoredTurn)>& more);
/// How many turns a model sees of the conversation up to and including `last`.
std::int64_t count_up_to(Connection& connection, const StoredTurn& last);
/// The latest user turn of the same thread before `stored`.
std::optional<StoredTurn> user_turn_before(Connection& connection, const StoredTurn& stored);
/// The newest assistant's turn that answers `question`.
std::optional<StoredTurn> newest_answer(Connection& connection, const StoredTurn& question);
/// Marks all turns after `question` in the conversation, including its answers, as superseded, and unmarks the
/// question.
void supersede_after(Connection& connection, const StoredTurn& question);

/// Moves a user turn into an answer: see Threads::steer.
void steer(Connection& connection, const StoredTurn& stored, const SteeredPlace& place);
/// Makes a steered user turn a separate question again. Does nothing to other turns.
void make_question(Connection& connection, const StoredTurn& stored);

/// The ids of the run's tool calls that have a turn on the thread.
std::set<std::string, std::less<>> tool_calls(Connection& connection, const std::string& thread_id,
                                              const std::string& run_id);

/// The numbers of a thread's turns up to `last`, in order.
std::vector<std::int64_t> numbers(Connection& connection, std::int64_t thread, std::int64_t last);
/// Copies the turns `numbers` into `thread` under the new `ids`, of which there must be enough. References between the
/// turns become references between the copies.
void copy(Connection& connection, const std::vector<std::int64_t>& numbers, const std::vector<std::string>& ids,
          std::int64_t thread);
/// For a thread of copies whose last turn is superseded: restores the conversation to the state in which that turn was
/// the last. Only turns that were superseded at that time remain so.
void restore_to_last(Connection& connection, std::int64_t thread);

}  // namespace agw::turn_store

namespace agw::activity_store {

/// The newest `limit` turns of all the agent's threads, newest first.
std::vector<ActivityRow> list(Connection& connection, const std::vector<std::string>& agent_ids, int limit);

}  // namespace agw::activity_store
