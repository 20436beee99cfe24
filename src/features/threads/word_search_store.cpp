#include "features/threads/word_search_store.hpp"

#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/async/assert.hpp"

#include "features/threads/turn_order_store.hpp"
#include "storage/tokenizer.hpp"
#include "storage/word_vector.hpp"

namespace agw::word_search_store {

namespace {

constexpr int turns_per_batch = 100;
constexpr std::size_t bytes_per_batch = 1024 * 1024;
constexpr int turns_per_page = 100;

struct Waiting {
  std::int64_t number = 0;
  std::int64_t thread = 0;
  std::string agent_id;
  std::string content;
};

/// Skips locked rows, so that nodes that index at the same time take different turns.
std::vector<Waiting> not_indexed(Connection& connection) {
  std::vector<Waiting> turns;
  std::size_t bytes = 0;
  // `waiting` is evaluated first: otherwise the server may reuse a plan from when no turns waited, which scans the
  // whole table.
  auto row = connection.prepare(
      "WITH waiting AS (SELECT turn FROM turns_to_index ORDER BY turn LIMIT :limit FOR UPDATE SKIP LOCKED) SELECT "
      "found.number, found.thread, coalesce((SELECT agent_id FROM threads WHERE number = found.thread), (SELECT "
      "agent_id FROM deleted_threads WHERE number = found.thread), ''), content FROM waiting CROSS JOIN LATERAL "
      "(SELECT number, thread, content FROM turns WHERE number = turn OFFSET 0) AS found ORDER BY turn");
  row.bind(":limit", turns_per_batch);
  while (bytes < bytes_per_batch && row.step()) {
    turns.push_back({row.integer(0), row.integer(1), row.string(2), row.string(3)});
    bytes += turns.back().content.size();
  }
  return turns;
}

/// For the rest of this transaction: requests wait until it ends. If the server crashes, the whole transaction is lost,
/// and the turns still wait to be indexed.
void disable_synchronous_commit(Connection& connection) {
  connection.prepare("SELECT set_config('synchronous_commit', 'off', true)").step();
}

/// Uses few sizes, because the server plans and caches a statement for each number of rows.
std::size_t rows_of_next_statement(std::size_t waiting) { return waiting >= 50 ? 50 : waiting >= 10 ? 10 : 1; }

std::string words_of(const Tokenizer& tokenizer, std::string_view content) {
  WordVector words;
  for (const auto& token : tokenizer.tokens(search_store::indexed_text(content))) words.add(token.word);
  return words.text();
}

/// Enters several rows per statement, because each is a round trip to the server.
void enter_words(Connection& connection, std::span<const Waiting> turns) {
  const Tokenizer tokenizer(connection);
  const std::vector<std::string_view> values(turns.size(), "(?, ?, ?, CAST(? AS tsvector))");
  auto row = connection.prepare(
      fmt::format("INSERT INTO turn_words (turn, thread, agent_id, words) VALUES {} ON CONFLICT DO NOTHING",
                  fmt::join(values, ", ")));
  for (const auto& turn : turns) {
    row.bind_next(turn.number)
        .bind_next(turn.thread)
        .bind_next(turn.agent_id)
        .bind_next(words_of(tokenizer, turn.content));
  }
  row.run();
}

void remove_from_waiting(Connection& connection, std::span<const Waiting> turns) {
  std::string numbers;
  for (const auto& turn : turns)
    fmt::format_to(std::back_inserter(numbers), "{}{}", numbers.empty() ? "" : ",", turn.number);
  connection.prepare("DELETE FROM turns_to_index WHERE turn = ANY(CAST(string_to_array(:turns, ',') AS BIGINT[]))")
      .bind(":turns", numbers)
      .run();
}

Statement unindexed(Connection& connection, const search_store::Scope& scope) {
  return connection.prepare(
      scope.thread
          ? "SELECT turns.number, content FROM turns_to_index JOIN turns ON turns.number = turn JOIN threads ON "
            "threads.number = turns.thread WHERE turns.thread = :thread ORDER BY turn DESC"
          : "SELECT turns.number, content FROM turns_to_index JOIN turns ON turns.number = turn JOIN threads ON "
            "threads.number = turns.thread WHERE agent_id IN (:agent_id, :agent_name) ORDER BY turn DESC");
}

Statement indexed(Connection& connection, const search_store::Scope& scope) {
  return connection.prepare(
      scope.thread
          ? "SELECT turns.number, content FROM turn_words JOIN threads ON threads.number = turn_words.thread JOIN "
            "turns "
            "ON turns.number = turn WHERE turn_words.thread = :thread AND words @@ CAST(:query AS tsquery) AND turn < "
            ":below ORDER BY turn DESC LIMIT :limit"
          : "SELECT turns.number, content FROM turn_words JOIN threads ON threads.number = turn_words.thread JOIN "
            "turns "
            "ON turns.number = turn WHERE turn_words.agent_id IN (:agent_id, :agent_name) AND words @@ CAST(:query AS "
            "tsquery) AND turn < :below ORDER BY turn DESC LIMIT :limit");
}

void bind(Statement& row, const search_store::Scope& scope) {
  AGW_ASSERT(scope.thread || scope.agent_ids.size() == 1 || scope.agent_ids.size() == 2);
  if (scope.thread) {
    row.bind(":thread", *scope.thread);
  } else {
    row.bind(":agent_id", scope.agent_ids.front()).bind(":agent_name", scope.agent_ids.back());
  }
}

}  // namespace

bool index_some(Connection& connection) {
  const auto turns = not_indexed(connection);
  if (turns.empty()) return false;
  AGW_ASSERT(connection.in_transaction());
  disable_synchronous_commit(connection);
  for (std::span<const Waiting> rest(turns); !rest.empty();) {
    const auto some = rest.first(rows_of_next_statement(rest.size()));
    enter_words(connection, some);
    rest = rest.subspan(some.size());
  }
  remove_from_waiting(connection, turns);
  return true;
}

bool purge_some(Connection& connection) {
  auto thread = connection.prepare("SELECT number FROM deleted_threads LIMIT 1");
  if (!thread.step()) return false;
  const auto number = thread.integer(0);
  std::vector<std::int64_t> turns;
  auto row = connection.prepare("SELECT turn FROM turn_order WHERE thread = :thread ORDER BY turn LIMIT :limit");
  row.bind(":thread", number).bind(":limit", turns_per_batch);
  while (row.step()) turns.push_back(row.integer(0));
  for (const auto turn : turns) {
    connection.prepare("DELETE FROM turns WHERE number = :number").bind(":number", turn).run();
    turn_order_store::remove(connection, number, turn);
  }
  if (turns.empty()) {
    connection.prepare("DELETE FROM deleted_threads WHERE number = :number").bind(":number", number).run();
  }
  return true;
}

void candidates(Connection& connection, const search_store::Scope& scope, const std::string& query,
                const std::function<bool(std::int64_t number, std::string_view content)>& each) {
  auto waiting = unindexed(connection, scope);
  bind(waiting, scope);
  while (waiting.step()) {
    if (!each(waiting.integer(0), waiting.text(1))) return;
  }
  auto below = std::numeric_limits<std::int64_t>::max();
  int found = turns_per_page;
  for (int read = 0; found == turns_per_page && read < max_checked; read += found) {
    auto row = indexed(connection, scope);
    bind(row, scope);
    row.bind(":query", query).bind(":below", below).bind(":limit", turns_per_page);
    for (found = 0; row.step(); ++found) {
      below = row.integer(0);
      if (!each(below, row.text(1))) return;
    }
  }
}

}  // namespace agw::word_search_store
