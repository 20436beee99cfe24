#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "features/threads/thread_store.hpp"
#include "features/threads/turn_order_store.hpp"
#include "features/threads/turn_store.hpp"
#include "features/threads/types.hpp"

namespace agw::turn_store {

namespace {

std::optional<std::string> metadata_text(const Turn& turn) {
  if (!turn.metadata) return std::nullopt;
  return to_json(json::value(*turn.metadata));
}

/// What names a thread that begins with the turn: its content, or the first file of a message that has nothing else.
std::string title_of(const Turn& turn) {
  auto title = title_from(turn.content);
  const auto* files = title.empty() && turn.metadata ? array_member(*turn.metadata, "attachments") : nullptr;
  if (files && !files->empty() && files->front().is_object())
    title = title_from(string_or_empty(files->front().get_object(), "name"));
  return title;
}

/// The first message of a person becomes the title of a thread without one.
void set_title(Connection& connection, thread_store::StoredThread& stored, const Turn& turn) {
  if (turn.role != Role::user || stored.titled_by != thread_store::TitledBy::none) return;
  auto title = title_of(turn);
  if (title.empty()) return;
  stored.thread.title = std::move(title);
  connection.prepare("UPDATE threads SET title = :title, titled_by = 'gateway' WHERE number = :number")
      .bind(":title", stored.thread.title)
      .bind(":number", stored.number)
      .run();
  AGW_ASSERT(connection.changes() == 1);
}

/// Updates the thread's row. Avoids RETURNING, which creates a temporary table each time.
void count_turn(Connection& connection, std::int64_t thread, std::int64_t turn, std::int64_t moment) {
  AGW_ASSERT(turn > 0);
  static const auto sql = fmt::format(
      "UPDATE threads SET turn_count = turn_count + 1, updated = CASE WHEN updated < :moment THEN :moment ELSE updated "
      "END, {} WHERE number = :number",
      turn_order_store::append_in_row);
  connection.prepare(sql).bind(":moment", moment).bind(":turn", turn).bind(":number", thread).run();
  // Otherwise the turn would be in no order, and never be seen.
  AGW_ASSERT(connection.changes() == 1);
}

/// Must be called after the turn was counted in the thread's row.
void take_count(Connection& connection, thread_store::StoredThread& stored, std::int64_t moment) {
  ++stored.thread.turn_count;
  stored.thread.updated_at = std::max(stored.thread.updated_at, thread_store::time_of(moment));
  turn_order_store::appended(connection, stored.number, stored.thread.turn_count);
}

/// Marks a question and all turns after it as superseded.
void supersede_from(Connection& connection, const std::string& question_id) {
  make_question(connection, require(connection, question_id));
  const auto question = require(connection, question_id);
  supersede_after(connection, question);
  connection.prepare("UPDATE turns SET superseded = 1 WHERE number = :number").bind(":number", question.number).run();
}

/// Inserts a turn and returns its number. Avoids RETURNING in SQLite, which creates a temporary table each time.
std::int64_t insert_turn(Connection& connection, std::int64_t thread, const PreparedTurn& prepared) {
#define INSERT_TURN                                                                                            \
  "INSERT INTO turns (id, thread, role, created_at, answers, content, metadata) VALUES (:id, :thread, :role, " \
  ":created_at, (SELECT number FROM turns WHERE id = :in_reply_to), :content, :metadata)"
  auto row = connection.prepare(Sql{INSERT_TURN, INSERT_TURN " RETURNING number"});
#undef INSERT_TURN
  const bool has_number = row.bind(":id", prepared.turn.id)
                              .bind(":thread", thread)
                              .bind(":role", to_text(prepared.turn.role))
                              .bind(":created_at", prepared.turn.created_at)
                              .bind(":in_reply_to", prepared.in_reply_to)
                              .bind(":content", prepared.turn.content)
                              .bind(":metadata", metadata_text(prepared.turn))
                              .step();
  return has_number ? row.integer(0) : connection.last_insert_rowid();
}

/// A statement with many rows looks up the next number and opens tables and indexes only once.
constexpr std::size_t max_at_once = 16;

/// How many of the leading turns one statement inserts. No two may be of the same thread, because the second needs the
/// thread's row as the first leaves it.
std::size_t of_different_threads(std::span<const Insertion* const> turns, std::size_t most) {
  AGW_ASSERT(!turns.empty());
  const auto thread = [](const Insertion* turn) -> auto& { return turn->prepared.turn.thread_id; };
  std::size_t count = 1;
  while (count < std::min(turns.size(), most) && std::ranges::find(turns.first(count), thread(turns[count]), thread) ==
                                                     turns.begin() + static_cast<std::ptrdiff_t>(count))
    ++count;
  AGW_ASSERT(count <= most);
  return count;
}

std::string_view insert_in_file_sql(std::size_t rows) {
  static const auto texts = [] {
    std::array<std::string, max_at_once> made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::vector<std::string_view> values(i + 1, "(?, ?, ?, ?, ?, ?)");
      // A failure rolls back the whole group anyway; OR FAIL avoids a journal for undoing the single statement.
      made[i] = fmt::format("INSERT OR FAIL INTO turns (id, thread, role, created_at, content, metadata) VALUES {}",
                            fmt::join(values, ", "));
    }
    return made;
  }();
  return texts.at(rows - 1);
}

/// Returns the number of the first turn: SQLite numbers the rows of a statement one after the other.
std::int64_t insert_in_file(Connection& connection, std::span<const Insertion* const> turns,
                            std::span<const thread_store::StoredThread> threads) {
  AGW_ASSERT(turns.size() == threads.size());
  auto row = connection.prepare(insert_in_file_sql(turns.size()));
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Turn& turn = turns[i]->prepared.turn;
    row.bind_next(turn.id)
        .bind_next(threads[i].number)
        .bind_next(to_text(turn.role))
        .bind_next(turn.created_at)
        .bind_next(turn.content)
        .bind_next(metadata_text(turn));
  }
  row.run();
  AGW_ASSERT(std::cmp_equal(connection.changes(), turns.size()));
  return connection.last_insert_rowid() + 1 - static_cast<std::int64_t>(turns.size());
}

void insert_all_in_file(Connection& connection, std::span<const Insertion* const> turns) {
  while (!turns.empty()) {
    const auto some = turns.first(of_different_threads(turns, max_at_once));
    std::vector<thread_store::StoredThread> threads;
    for (const auto* turn : some) threads.push_back(thread_store::require(connection, turn->prepared.turn.thread_id));
    auto number = insert_in_file(connection, some, threads);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto& prepared = some[i]->prepared;
      set_title(connection, threads[i], prepared.turn);
      count_turn(connection, threads[i].number, number++, prepared.moment);
      take_count(connection, threads[i], prepared.moment);
      some[i]->thread = std::move(threads[i].thread);
    }
    turns = turns.subspan(some.size());
  }
}

/// Limits the size on a server, where each statement is a round trip, but each new size must be planned first.
constexpr std::size_t max_at_once_on_server = 64;
// `at_once_on_server` rounds down to a power of two.
static_assert(std::has_single_bit(max_at_once_on_server));
static_assert(max_at_once <= max_at_once_on_server);

std::size_t at_once_on_server(std::size_t turns) {
  return turns <= max_at_once ? turns : std::min(std::bit_floor(turns), max_at_once_on_server);
}

/// Forces the server to look up threads by index, whatever table size it assumes: a scan of the table would conflict
/// with turns that other nodes insert.
std::string make_append_sql(std::size_t rows) {
  const std::vector<std::string_view> values(rows, "(?, ?, ?, ?, ?, ?, ?)");
  return fmt::format(
      "WITH given (given_thread, given_id, given_role, given_at, given_content, given_metadata, given_moment) AS "
      "(VALUES {}), added (added_number, added_thread) AS (INSERT INTO turns (id, thread, role, created_at, content, "
      "metadata) SELECT given_id, found.number, given_role, given_at, given_content, given_metadata FROM given CROSS "
      "JOIN LATERAL (SELECT number FROM threads WHERE id = given_thread OFFSET 0) AS found RETURNING number, thread) "
      "UPDATE threads SET turn_count = turn_count + 1, updated = greatest(updated, given_moment), newest_turns = "
      "newest_turns || ',' || added_number FROM added, given WHERE number = added_thread AND id = given_thread "
      "RETURNING {}",
      fmt::join(values, ", "), thread_store::columns());
}

const std::string& append_sql(std::size_t rows) {
  static const auto texts = [] {
    std::array<std::string, max_at_once_on_server> made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (at_once_on_server(i + 1) == i + 1) made[i] = make_append_sql(i + 1);
    }
    return made;
  }();
  const auto& sql = texts.at(rows - 1);
  AGW_ASSERT(!sql.empty());
  return sql;
}

/// Inserts the turns, counts them in the rows of their threads, and returns the threads.
std::vector<thread_store::StoredThread> append(Connection& connection, std::span<const Insertion* const> turns) {
  auto row = connection.prepare(append_sql(turns.size()));
  for (const auto* insertion : turns) {
    const auto& turn = insertion->prepared.turn;
    row.bind_next(turn.thread_id)
        .bind_next(turn.id)
        .bind_next(to_text(turn.role))
        .bind_next(turn.created_at)
        .bind_next(turn.content)
        .bind_next(metadata_text(turn))
        .bind_next(insertion->prepared.moment);
  }
  std::map<std::string, thread_store::StoredThread> found;
  while (row.step()) {
    auto stored = thread_store::read(row);
    found.emplace(stored.thread.id, std::move(stored));
  }
  std::vector<thread_store::StoredThread> threads;
  for (const auto* insertion : turns) {
    const auto& id = insertion->prepared.turn.thread_id;
    auto thread = found.extract(id);
    threads.push_back(thread ? std::move(thread.mapped()) : thread_store::require(connection, id));
  }
  return threads;
}

void insert_all_on_server(Connection& connection, std::span<const Insertion* const> turns) {
  while (!turns.empty()) {
    const auto some = turns.first(at_once_on_server(of_different_threads(turns, max_at_once_on_server)));
    auto threads = append(connection, some);
    std::vector<turn_order_store::Length> lengths;
    for (std::size_t i = 0; i < some.size(); ++i) {
      set_title(connection, threads[i], some[i]->prepared.turn);
      lengths.push_back({threads[i].number, threads[i].thread.turn_count});
      some[i]->thread = std::move(threads[i].thread);
    }
    turn_order_store::appended(connection, lengths);
    turns = turns.subspan(some.size());
  }
}

}  // namespace

void insert_all(Connection& connection, std::span<const Insertion* const> turns) {
  AGW_DEBUG_ASSERT(std::ranges::none_of(
      turns, [](const auto* turn) { return turn->prepared.replaces || turn->prepared.in_reply_to; }));
  if (connection.is_postgres()) return insert_all_on_server(connection, turns);
  insert_all_in_file(connection, turns);
}

Thread insert(Connection& connection, const PreparedTurn& prepared) {
  AGW_ASSERT(!prepared.turn.id.empty());
  AGW_ASSERT(prepared.moment > 0);
  AGW_ASSERT(!prepared.replaces || !prepared.in_reply_to);
  if (prepared.replaces) supersede_from(connection, *prepared.replaces);
  auto stored = thread_store::require(connection, prepared.turn.thread_id);
  set_title(connection, stored, prepared.turn);
  count_turn(connection, stored.number, insert_turn(connection, stored.number, prepared), prepared.moment);
  take_count(connection, stored, prepared.moment);
  return std::move(stored.thread);
}

}  // namespace agw::turn_store
