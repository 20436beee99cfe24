#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "base/async/assert.hpp"
#include "base/text/utf8.hpp"
#include "features/threads/turn_order_store.hpp"
#include "features/threads/turn_store.hpp"

namespace agw::activity_store {

namespace {

struct Numbered {
  std::int64_t number = 0;
  ActivityRow row;
};

constexpr int threads_per_page = 50;
constexpr int snippet_length = 150;
constexpr int max_character_length = 4;  ///< bytes in UTF-8

/// Adds the thread's newest turns, then drops all but the newest `limit`.
void add_turns(Connection& connection, const Statement& thread, int limit, std::vector<Numbered>& newest) {
  turn_order_store::NewestFirst numbers(connection, thread.integer(0));
  for (int left = limit; left > 0; --left) {
    const auto number = numbers.next();
    if (!number) break;
    // As bytes in SQLite, whose `substr` stops at a NUL character in text.
    auto turn = connection.prepare(
        Sql{"SELECT id, role, substr(CAST(content AS BLOB), 1, :bytes), created_at FROM turns WHERE number = :number",
            "SELECT id, role, left(content, CAST(:bytes AS INTEGER)), created_at FROM turns WHERE number = :number"});
    if (!turn.bind(":bytes", snippet_length * max_character_length).bind(":number", *number).step()) continue;
    newest.push_back({*number,
                      {.turn_id = turn.string(0),
                       .thread_id = thread.string(1),
                       .thread_title = thread.string(2),
                       .role = from_text<Role>(turn.text(1)).value_or(Role::user),
                       .snippet = std::string(first_characters(turn.text(2), snippet_length)),
                       .created_at = turn.time(3)}});
  }
  std::ranges::sort(newest, std::greater(), &Numbered::number);
  if (newest.size() > static_cast<std::size_t>(limit)) newest.resize(static_cast<std::size_t>(limit));
}

/// Calls `each` with the threads that were changed before `before`, latest first. Returns where the next page begins,
/// or no value at the end or once `each` returns false. Reads pages, because a server sends all rows of a statement.
std::optional<std::int64_t> for_each_of_page(Connection& connection, const std::vector<std::string>& agent_ids,
                                             std::int64_t before, const std::function<bool(const Statement&)>& each) {
  // With a single value, the index provides the order.
  auto thread = connection.prepare(
      agent_ids.size() == 1 ? "SELECT number, id, title, updated FROM threads WHERE agent_id = ? AND updated < ? ORDER "
                              "BY updated DESC LIMIT ?"
                            : "SELECT number, id, title, updated FROM threads WHERE agent_id IN (?, ?) AND updated < ? "
                              "ORDER BY updated DESC LIMIT ?");
  for (const auto& id : agent_ids) thread.bind_next(id);
  thread.bind_next(before).bind_next(threads_per_page);
  int read = 0;
  for (; thread.step(); ++read) {
    before = thread.integer(3);
    if (!each(thread)) return std::nullopt;
  }
  return read == threads_per_page ? std::optional(before) : std::nullopt;
}

}  // namespace

std::vector<ActivityRow> list(Connection& connection, const std::vector<std::string>& agent_ids, int limit) {
  // As many as the statements have parameters for.
  AGW_ASSERT(agent_ids.size() == 1 || agent_ids.size() == 2);
  // A thread's `updated` is never older than its newest turn, so the search ends at the first thread updated before the
  // oldest turn kept.
  std::vector<Numbered> newest;
  const auto add = [&](const Statement& thread) {
    const std::chrono::microseconds updated{thread.integer(3)};
    const bool full = newest.size() == static_cast<std::size_t>(limit);
    if (full && updated < newest.back().row.created_at.time_since_epoch()) return false;
    add_turns(connection, thread, limit, newest);
    return true;
  };
  for (auto before = std::optional(std::numeric_limits<std::int64_t>::max()); before;)
    before = for_each_of_page(connection, agent_ids, *before, add);
  std::vector<ActivityRow> rows;
  rows.reserve(newest.size());
  for (auto& turn : newest) rows.push_back(std::move(turn.row));
  return rows;
}

}  // namespace agw::activity_store
