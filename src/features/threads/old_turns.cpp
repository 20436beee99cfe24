// Finds and removes the oldest turns of a thread, once they are summarised.

#include <limits>
#include <ranges>

#include "base/async/assert.hpp"
#include "features/events/hub.hpp"
#include "features/threads/search_indexer.hpp"
#include "features/threads/search_store.hpp"
#include "features/threads/service.hpp"
#include "features/threads/thread_store.hpp"
#include "features/threads/turn_store.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

constexpr std::size_t removed_at_once = 100;
constexpr std::int64_t all_turns = std::numeric_limits<std::int64_t>::max();

/// A message that was steered into an answer is part of that answer, which must not be divided.
bool is_question(const turn_store::StoredTurn& stored) { return stored.turn.role == Role::user && !stored.answers; }

/// The index in `numbers` of the oldest question that has fewer than `kept` turns from it on, itself included; else of
/// the newest question.
std::optional<std::size_t> first_kept(Connection& connection, const std::vector<std::int64_t>& numbers,
                                      std::size_t kept) {
  std::optional<std::size_t> question;
  for (auto i = numbers.size(); i-- > 0;) {
    if (question && numbers.size() - i >= kept) break;
    const auto stored = turn_store::find(connection, numbers[i]);
    if (stored && is_question(*stored)) question = i;
  }
  return question;
}

}  // namespace

std::optional<OldTurns> Threads::old_turns(Connection& connection, const std::string& thread_id, std::size_t kept) {
  const auto thread = thread_store::require(connection, thread_id).number;
  const auto numbers = turn_store::numbers(connection, thread, all_turns);
  const auto question = first_kept(connection, numbers, kept);
  if (!question) return std::nullopt;
  OldTurns old{.next_question_id = turn_store::find(connection, numbers[*question])->turn.id};
  for (auto i = *question; i-- > 0 && old.last_turn_id.empty();) {
    const auto stored = turn_store::find(connection, numbers[i]);
    AGW_CHECK(stored, "a turn of a thread is missing: " + thread_id);
    const bool is_seen = !stored->turn.metadata || !stored->turn.metadata->contains("superseded");
    if (is_seen) old.last_turn_id = stored->turn.id;
  }
  AGW_ASSERT(old.last_turn_id != old.next_question_id);
  // `last_turn_id` itself stays, so there must be another turn before it.
  return old.last_turn_id.empty() || *question < 2 ? std::nullopt : std::optional(std::move(old));
}

Task<> Threads::remove_before(std::string thread_id, std::string turn_id, std::function<bool(Connection&)> may_remove,
                              std::function<void(Connection&)> in_transaction) {
  std::optional<Thread> thread;
  for (bool any_left = true; any_left;) {
    const auto moment = next_moment();
    auto changed = co_await database_.write(
        [turn_id, moment, may_remove, in_transaction](Connection& connection) {
          std::optional<Thread> left;
          if (!may_remove(connection)) return left;
          const auto last = turn_store::require(connection, turn_id);
          auto numbers = turn_store::numbers(connection, last.thread, last.number - 1);
          if (numbers.size() > removed_at_once) numbers.resize(removed_at_once);
          AGW_ASSERT(numbers.empty() || numbers.back() < last.number);
          // In the order of the index's rows, which are negated numbers: the index flushes its buffer whenever a row
          // number decreases.
          for (const auto number : std::views::reverse(numbers)) {
            const auto stored = turn_store::find(connection, number);
            if (!stored) continue;
            search_store::remove(connection, *stored);
            left = turn_store::remove(connection, *stored, moment);
          }
          in_transaction(connection);
          return left;
        },
        Database::Lane::background);
    any_left = changed.has_value();
    if (changed) thread = std::move(changed);
    indexer_->wake();
  }
  if (thread) publish(*thread);
}

}  // namespace agw
