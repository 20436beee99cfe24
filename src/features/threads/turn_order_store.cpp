#include "features/threads/turn_order_store.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/async/assert.hpp"

namespace agw::turn_order_store {

namespace {

/// How many turns move to the table at once, so that they share the pages written.
constexpr std::int64_t entered_at_once = 16;
/// A server sends all rows of a statement.
constexpr std::size_t numbers_per_page = 100;

std::vector<std::int64_t> newest(Connection& connection, std::int64_t thread, std::int64_t below) {
  std::vector<std::int64_t> numbers;
  auto row = connection.prepare(
      Sql{"SELECT value FROM threads, json_each('[' || substr(newest_turns, 2) || ']') WHERE number = :thread AND "
          "value < :below",
          "SELECT value FROM threads, unnest(CAST(string_to_array(substr(newest_turns, 2), ',') AS BIGINT[])) WITH "
          "ORDINALITY AS newest (value, place) WHERE number = :thread AND value < :below ORDER BY place"});
  row.bind(":thread", thread).bind(":below", below);
  while (row.step()) numbers.push_back(row.integer(0));
  AGW_DEBUG_ASSERT(std::ranges::is_sorted(numbers));
  return numbers;
}

}  // namespace

void appended(Connection& connection, std::int64_t thread, std::int64_t turn_count) {
  AGW_DEBUG_ASSERT(turn_count > 0);
  if (turn_count % entered_at_once == 0) enter_newest(connection, thread);
}

void appended(Connection& connection, std::span<const Length> threads) {
  std::vector<std::int64_t> full;
  for (const auto& [thread, turn_count] : threads) {
    if (turn_count % entered_at_once == 0) full.push_back(thread);
  }
  if (full.empty()) return;
  // Both parts of the statement see the rows as they were before it.
  connection
      .prepare(
          "WITH entered AS (INSERT INTO turn_order (thread, turn) SELECT number, value FROM threads, "
          "unnest(CAST(string_to_array(substr(newest_turns, 2), ',') AS BIGINT[])) AS newest (value) WHERE number = "
          "ANY(CAST(string_to_array(:threads, ',') AS BIGINT[]))) UPDATE threads SET newest_turns = '' WHERE number = "
          "ANY(CAST(string_to_array(:threads, ',') AS BIGINT[]))")
      .bind(":threads", fmt::format("{}", fmt::join(full, ",")))
      .run();
}

void enter(Connection& connection, std::int64_t thread, std::int64_t turn) {
  connection.prepare("INSERT INTO turn_order (thread, turn) VALUES (:thread, :turn)")
      .bind(":thread", thread)
      .bind(":turn", turn)
      .run();
}

void enter_newest(Connection& connection, std::int64_t thread) {
  connection
      .prepare(Sql{"INSERT INTO turn_order (thread, turn) SELECT number, value FROM threads, "
                   "json_each('[' || substr(newest_turns, 2) || ']') WHERE number = :thread",
                   "INSERT INTO turn_order (thread, turn) SELECT number, value FROM threads, "
                   "unnest(CAST(string_to_array(substr(newest_turns, 2), ',') AS BIGINT[])) AS newest (value) "
                   "WHERE number = :thread"})
      .bind(":thread", thread)
      .run();
  connection.prepare("UPDATE threads SET newest_turns = '' WHERE number = :thread").bind(":thread", thread).run();
}

void remove(Connection& connection, std::int64_t thread, std::int64_t turn) {
  enter_newest(connection, thread);
  connection.prepare("DELETE FROM turn_order WHERE thread = :thread AND turn = :turn")
      .bind(":thread", thread)
      .bind(":turn", turn)
      .run();
  AGW_ASSERT(connection.changes() <= 1);
}

std::vector<std::int64_t> newest_in_row(Connection& connection, std::int64_t thread) {
  auto numbers = newest(connection, thread, std::numeric_limits<std::int64_t>::max());
  std::ranges::reverse(numbers);
  return numbers;
}

NewestFirst::NewestFirst(Connection& connection, std::int64_t thread, std::int64_t below)
    : connection_(connection), thread_(thread), below_(below), numbers_(newest(connection, thread, below)) {}

std::optional<std::int64_t> NewestFirst::next() {
  if (numbers_.empty() && has_more_) read_page();
  if (numbers_.empty()) return std::nullopt;
  const auto number = numbers_.back();
  numbers_.pop_back();
  return number;
}

void NewestFirst::read_page() {
  AGW_ASSERT(numbers_.empty());
  auto row = connection_.prepare(
      "SELECT turn FROM turn_order WHERE thread = :thread AND turn < :below ORDER BY turn DESC LIMIT :limit");
  row.bind(":thread", thread_).bind(":below", below_).bind(":limit", numbers_per_page);
  while (row.step()) {
    // So the pages end.
    AGW_ASSERT(row.integer(0) < below_);
    numbers_.push_back(below_ = row.integer(0));
  }
  has_more_ = numbers_.size() == numbers_per_page;
  std::ranges::reverse(numbers_);
}

}  // namespace agw::turn_order_store
