#include "features/context/summary_store.hpp"

#include "base/async/assert.hpp"

namespace agw::summary_store {

std::optional<ThreadSummary> find(Connection& connection, const std::string& thread_id) {
  auto row = connection.prepare("SELECT last_turn_id, turns, text FROM thread_summaries WHERE thread_id = :thread");
  row.bind(":thread", thread_id);
  if (!row.step()) return std::nullopt;
  return ThreadSummary{{row.string(0), row.integer(1)}, row.string(2)};
}

void put(Connection& connection, const std::string& thread_id, const ThreadSummary& summary, Timestamp now) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!summary.turns.last_turn_id.empty());
  AGW_ASSERT(summary.turns.count >= 0);
  connection
      .prepare(
          "INSERT INTO thread_summaries (thread_id, last_turn_id, turns, text, created_at) VALUES (:thread, :last, "
          ":turns, :text, :now) ON CONFLICT (thread_id) DO UPDATE SET last_turn_id = excluded.last_turn_id, turns = "
          "excluded.turns, text = excluded.text, created_at = excluded.created_at")
      .bind(":thread", thread_id)
      .bind(":last", summary.turns.last_turn_id)
      .bind(":turns", summary.turns.count)
      .bind(":text", summary.text)
      .bind(":now", now)
      .run();
}

bool put_if_current(Connection& connection, const std::string& thread_id, const ThreadSummary& summary, Timestamp now) {
  // Otherwise the turns could change in between.
  AGW_ASSERT(connection.in_transaction());
  if (!Threads::are_turns_unchanged(connection, summary.turns)) return false;
  put(connection, thread_id, summary, now);
  return true;
}

}  // namespace agw::summary_store
