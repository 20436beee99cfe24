#include "features/threads/search_store.hpp"

#include <algorithm>
#include <limits>
#include <ranges>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/text/utf8.hpp"
#include "base/text/word_segmentation.hpp"
#include "features/threads/full_text.hpp"
#include "features/threads/turn_order_store.hpp"
#include "features/threads/word_search_store.hpp"
#include "storage/full_text_api.hpp"

namespace agw::search_store {

namespace {

// Each piece blocks the writer for a few milliseconds.
constexpr std::size_t turns_per_batch = 100;
constexpr std::size_t bytes_per_batch = 128 * 1024;
constexpr int pages_per_merge = 64;
/// With more segments, merging comes before indexing. Otherwise merging falls behind while very many turns wait, until
/// SQLite merges all segments of a level at once, which takes minutes and gigabytes of the log.
constexpr std::int64_t many_segments = 64;
constexpr int few = 500;

/// Represents any text as one word of the index: its FNV-1a hash. Two agents with the same hash would find each other's
/// turns; with 64 bits this does not happen by chance.
std::string agent_word(std::string_view agent_id) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : agent_id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("a{:016x}", hash);
}

std::string thread_word(std::int64_t thread) { return fmt::format("t{}", thread); }

/// A turn's row as the index sees it.
struct Entry {
  std::int64_t number = 0;
  std::string scope;
  std::string content;
};

/// Reads entries from `row` (number, thread, agent_id, content) up to the size of a piece, but at least one if there is
/// one.
std::vector<Entry> piece(Statement& row) {
  std::vector<Entry> entries;
  std::size_t bytes = 0;
  while (entries.size() < turns_per_batch && bytes < bytes_per_batch && row.step()) {
    entries.push_back({row.integer(0), thread_word(row.integer(1)) + ' ' + agent_word(row.text(2)),
                       with_word_breaks(indexed_text(row.text(3)))});
    bytes += entries.back().content.size();
  }
  return entries;
}

/// The negated number: the index returns ascending rows much faster than descending ones, and searches need the newest
/// turns first.
std::int64_t row_of(std::int64_t number) { return -number; }

void add(Connection& connection, const Entry& entry) {
  connection.prepare("INSERT INTO turn_words (rowid, scope, body) VALUES (:row, :scope, :body)")
      .bind(":row", row_of(entry.number))
      .bind(":scope", entry.scope)
      .bind(":body", entry.content)
      .run();
}

/// The index does not store texts, so deleting an entry requires its original text.
void delete_entry(Connection& connection, const Entry& entry) {
  connection.prepare("INSERT INTO turn_words (turn_words, rowid, scope, body) VALUES ('delete', :row, :scope, :body)")
      .bind(":row", row_of(entry.number))
      .bind(":scope", entry.scope)
      .bind(":body", entry.content)
      .run();
}

bool must_merge_first(Connection& connection) { return count_segments(connection, "turn_words") >= many_segments; }

/// Includes turns of deleted threads: every turn up to the mark must be in the index, without exception.
std::vector<Entry> not_indexed(Connection& connection) {
  auto row = connection.prepare(
      "SELECT turns.number, thread, coalesce(threads.agent_id, deleted_threads.agent_id), content FROM turns "
      "LEFT JOIN threads ON threads.number = thread LEFT JOIN deleted_threads ON deleted_threads.number = thread "
      "WHERE turns.number > (SELECT indexed FROM search_progress) ORDER BY turns.number");
  return piece(row);
}

std::vector<Entry> to_purge(Connection& connection, std::int64_t thread) {
  auto row = connection.prepare(
      "SELECT turn, turn_order.thread, agent_id, content FROM turn_order CROSS JOIN turns ON turns.number = turn "
      "CROSS JOIN deleted_threads ON deleted_threads.number = turn_order.thread WHERE turn_order.thread = :thread "
      "ORDER BY turn");
  row.bind(":thread", thread);
  return piece(row);
}

std::optional<std::int64_t> next_deleted_thread(Connection& connection) {
  auto row = connection.prepare("SELECT number FROM deleted_threads LIMIT 1");
  if (!row.step()) return std::nullopt;
  return row.integer(0);
}

std::string agent_of(Connection& connection, std::int64_t thread) {
  auto row = connection.prepare("SELECT agent_id FROM threads WHERE number = :number");
  row.bind(":number", thread);
  row.step();
  return row.string(0);
}

/// Prepares a statement that uses `turn_hits`; adds the function to the connection on first use.
Statement prepare_with_hits(Connection& connection, std::string_view sql) {
  try {
    return connection.prepare(sql);
  } catch (const DatabaseError&) {
    add_hits_function(connection);
    return connection.prepare(sql);
  }
}

}  // namespace

std::vector<std::string> Scope::words() const {
  if (thread) return {thread_word(*thread)};
  std::vector<std::string> words;
  words.reserve(agent_ids.size());
  for (const auto& id : agent_ids) words.push_back(agent_word(id));
  return words;
}

std::string_view indexed_text(std::string_view content) { return utf8_prefix(content, max_bytes_indexed); }

std::int64_t index_some(Connection& connection) {
  if (connection.is_postgres()) return word_search_store::index_some(connection) ? 1 : 0;
  if (must_merge_first(connection)) return newest_number(connection) - indexed(connection);
  const auto entries = not_indexed(connection);
  if (entries.empty()) return 0;
  // The mark moves with the index, and only up.
  AGW_ASSERT(connection.in_transaction());
  AGW_DEBUG_ASSERT(entries.front().number > indexed(connection));
  AGW_DEBUG_ASSERT(std::ranges::is_sorted(entries, {}, &Entry::number));
  // In the order of the index's rows: the index flushes its buffer whenever a row number decreases.
  for (const auto& entry : std::views::reverse(entries)) add(connection, entry);
  connection.prepare("UPDATE search_progress SET indexed = :indexed").bind(":indexed", entries.back().number).run();
  AGW_ASSERT(connection.changes() == 1);
  return newest_number(connection) - entries.front().number + 1;
}

bool merge_some(Connection& connection) {
  return !connection.is_postgres() && merge_full_text(connection, "turn_words", pages_per_merge);
}

bool purge_some(Connection& connection) {
  if (connection.is_postgres()) return word_search_store::purge_some(connection);
  const auto thread = next_deleted_thread(connection);
  if (!thread) return false;
  if (must_merge_first(connection)) return true;
  const auto last = indexed(connection);
  AGW_ASSERT(connection.in_transaction());
  const auto entries = to_purge(connection, *thread);
  for (const auto& entry : std::views::reverse(entries)) {
    if (entry.number <= last) delete_entry(connection, entry);
    connection.prepare("DELETE FROM turns WHERE number = :number").bind(":number", entry.number).run();
    turn_order_store::remove(connection, *thread, entry.number);
  }
  if (entries.empty()) {
    connection.prepare("DELETE FROM deleted_threads WHERE number = :number").bind(":number", *thread).run();
  }
  return true;
}

void remove(Connection& connection, const turn_store::StoredTurn& stored) {
  // PostgreSQL's index follows the table by itself.
  if (connection.is_postgres() || stored.number > indexed(connection)) return;
  delete_entry(connection,
               {stored.number, thread_word(stored.thread) + ' ' + agent_word(agent_of(connection, stored.thread)),
                with_word_breaks(indexed_text(stored.turn.content))});
}

std::int64_t indexed(Connection& connection) {
  auto row = connection.prepare("SELECT indexed FROM search_progress");
  row.step();
  return row.integer(0);
}

double frequency(Connection& connection, const std::string& query) {
  auto row = connection.prepare(
      "SELECT count(*), coalesce(-min(rowid), 0), coalesce(-max(rowid), 0) FROM (SELECT rowid FROM turn_words WHERE "
      "turn_words MATCH :query ORDER BY rowid LIMIT :few)");
  row.bind(":query", query).bind(":few", few);
  row.step();
  const auto count = static_cast<double>(row.integer(0));
  AGW_ASSERT(count <= few);
  if (count < few) return count;
  const auto stretch = static_cast<double>(row.integer(1) - row.integer(2) + 1);
  // That many turns have different numbers.
  AGW_DEBUG_ASSERT(stretch >= count);
  return std::max(count, count / stretch * static_cast<double>(indexed(connection)));
}

std::vector<std::string> words_with(Connection& connection, const std::string& part) {
  return words_with_part(connection, "turn_words", part);
}

std::vector<Candidate> newest(Connection& connection, const std::string& query, std::size_t limit) {
  // Turns of deleted threads stay indexed until they are purged, and must not use up the limit.
  const bool purging = next_deleted_thread(connection).has_value();
  std::vector<Candidate> found;
  auto row = prepare_with_hits(
      connection, fmt::format("SELECT -rowid, turn_hits(turn_words) FROM turn_words WHERE turn_words MATCH :query {} "
                              "ORDER BY rowid LIMIT :limit",
                              purging ? "AND NOT EXISTS (SELECT 1 FROM turns JOIN deleted_threads ON "
                                        "deleted_threads.number = thread WHERE turns.number = -turn_words.rowid)"
                                      : ""));
  row.bind(":query", query).bind(":limit", limit);
  while (row.step()) found.push_back({row.integer(0), read_hits(row.text(1))});
  return found;
}

bool read(Connection& connection, Numbers numbers, const EachTurn& each) {
  auto row = connection.prepare(
      "SELECT number, thread, content FROM turns WHERE number BETWEEN :first AND :last ORDER BY number DESC");
  row.bind(":first", numbers.first).bind(":last", numbers.last);
  while (row.step()) {
    if (!each(row.integer(0), row.integer(1), indexed_text(row.text(2)))) return false;
  }
  return true;
}

void read_thread(Connection& connection, std::int64_t thread, const std::vector<Numbers>& places,
                 const EachTurn& each) {
  if (places.empty()) return;
  AGW_DEBUG_ASSERT(std::ranges::is_sorted(places, std::ranges::greater(), &Numbers::first));
  auto place = places.begin();
  turn_order_store::NewestFirst turns(connection, thread, std::numeric_limits<std::int64_t>::max());
  while (const auto number = turns.next()) {
    while (*number < place->first) {
      if (++place == places.end()) return;
    }
    if (*number <= place->last && !read(connection, {*number, *number}, each)) return;
  }
}

std::int64_t newest_number(Connection& connection) {
  auto row = connection.prepare("SELECT coalesce(max(number), 0) FROM turns");
  row.step();
  return row.integer(0);
}

bool ScopedThreads::contains(std::int64_t thread) {
  if (scope_.thread) return thread == *scope_.thread;
  const auto [known, is_new] = known_.try_emplace(thread, false);
  if (is_new) {
    auto row = connection_.prepare("SELECT agent_id FROM threads WHERE number = :number");
    row.bind(":number", thread);
    known->second = row.step() && agw::contains(scope_.agent_ids, row.text(0));
  }
  return known->second;
}

}  // namespace agw::search_store
