#include "features/threads/transfer_store.hpp"

#include <limits>
#include <utility>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "features/threads/turn_order_store.hpp"
#include "features/threads/turn_store.hpp"
#include "features/threads/types.hpp"

namespace agw::transfer_store {

namespace {

/// A page ends with the turn that exceeds this amount of text.
constexpr std::size_t max_page_bytes = 2 * 1024 * 1024;

std::int64_t number_after(Connection& connection, std::int64_t thread, const std::optional<std::string>& turn_id) {
  if (!turn_id) return 0;
  auto row = connection.prepare("SELECT number FROM turns WHERE id = :id AND thread = :thread");
  row.bind(":id", *turn_id).bind(":thread", thread);
  if (!row.step()) throw BadRequest("after must be a turn of this thread");
  return row.integer(0);
}

/// The numbers of the thread's turns above `after`, oldest first; one more than `limit` shows that more follow.
std::vector<std::int64_t> numbers_after(Connection& connection, std::int64_t thread, std::int64_t after,
                                        std::size_t limit) {
  std::vector<std::int64_t> found;
  auto row = connection.prepare(
      "SELECT turn FROM turn_order WHERE thread = :thread AND turn > :after ORDER BY turn LIMIT :limit");
  row.bind(":thread", thread).bind(":after", after).bind(":limit", static_cast<std::int64_t>(limit) + 1);
  while (row.step()) found.push_back(row.integer(0));
  const auto newest = turn_order_store::newest_in_row(connection, thread);
  for (auto number = newest.rbegin(); number != newest.rend() && found.size() <= limit; ++number) {
    if (*number > after) found.push_back(*number);
  }
  return found;
}

std::optional<std::string> id_of(Connection& connection, const std::optional<std::int64_t>& number) {
  if (!number) return std::nullopt;
  auto row = connection.prepare("SELECT id FROM turns WHERE number = :number");
  row.bind(":number", *number);
  if (!row.step()) return std::nullopt;
  return row.string(0);
}

/// An unused value of `updated`, equal to `wanted` or shortly after it: pages of the list of threads continue after
/// such a value, so no two threads may share one. Another program may give all its threads the same time. So each
/// attempt doubles the range, in microseconds, from which a random value is taken: few attempts suffice.
std::int64_t free_moment(Connection& connection, std::int64_t wanted) {
  for (std::int64_t range = 1;; range *= 2) {
    auto row = connection.prepare(
        Sql{"WITH chosen (moment) AS MATERIALIZED (SELECT :wanted + abs(random() % :range)) "
            "SELECT moment FROM chosen WHERE NOT EXISTS (SELECT 1 FROM threads WHERE updated = moment)",
            "WITH chosen (moment) AS MATERIALIZED (SELECT :wanted + CAST(floor(random() * :range) AS BIGINT)) "
            "SELECT moment FROM chosen WHERE NOT EXISTS (SELECT 1 FROM threads WHERE updated = moment)"});
    row.bind(":wanted", wanted).bind(":range", range);
    if (row.step()) return row.integer(0);
  }
}

/// The thread of the turn with this id, if there is one. If the turn belongs to a deleted thread and is not purged yet,
/// it is renamed, so that the import can use the id.
std::optional<std::int64_t> owner_of(Connection& connection, const std::string& id) {
  auto row = connection.prepare(
      "SELECT turns.thread, threads.number IS NULL FROM turns LEFT JOIN threads ON threads.number = turns.thread "
      "WHERE turns.id = :id");
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  if (!row.boolean(1)) return row.integer(0);
  connection.prepare("UPDATE turns SET id = id || '-' || number WHERE id = :id").bind(":id", id).run();
  return std::nullopt;
}

void insert(Connection& connection, std::int64_t thread, const PreparedImportTurn& turn) {
  auto row = connection.prepare(
      "INSERT INTO turns (id, thread, role, created_at, answers, superseded, content, metadata) VALUES (:id, "
      ":thread, :role, :created_at, (SELECT number FROM turns WHERE id = :in_reply_to AND thread = :thread), "
      ":superseded, :content, :metadata) RETURNING number");
  row.bind(":id", turn.id)
      .bind(":thread", thread)
      .bind(":role", to_text(turn.role))
      .bind(":created_at", turn.created_at)
      .bind(":in_reply_to", turn.in_reply_to)
      .bind(":superseded", turn.superseded)
      .bind(":content", turn.content)
      .bind(":metadata", turn.metadata)
      .step();
  turn_order_store::enter(connection, thread, row.integer(0));
}

/// The thread as it is stored: an existing one, or the new one.
thread_store::StoredThread thread_of(Connection& connection, const PreparedImport& prepared, ImportOutcome& outcome) {
  if (auto found = thread_store::find(connection, prepared.thread.thread.id)) return *std::move(found);
  outcome.created = true;
  auto made = prepared.thread;
  made.moment = free_moment(connection, made.moment);
  made.thread.updated_at = thread_store::time_of(made.moment);
  for (const auto& turn : prepared.turns) {
    if (made.titled_by != thread_store::TitledBy::none) break;
    auto title = turn.role == Role::user ? title_from(turn.content) : std::string();
    if (title.empty()) continue;
    made.thread.title = std::move(title);
    made.titled_by = thread_store::TitledBy::gateway;
  }
  const auto number = thread_store::insert(connection, made);
  if (prepared.tasks) task_store::put(connection, number, *prepared.tasks);
  thread_store::StoredThread stored{number, std::move(made.thread), made.titled_by};
  if (stored.thread.pinned) stored.thread = thread_store::change(connection, stored, std::nullopt, 0);
  return stored;
}

/// Adds the new turns to the thread's count, and sets its `updated` if the new value is later.
Thread count_in(Connection& connection, const std::string& id, std::int64_t turns, std::int64_t moment) {
  auto row = connection.prepare("SELECT updated >= :moment FROM threads WHERE id = :id");
  row.bind(":moment", moment).bind(":id", id);
  const bool is_later = row.step() && !row.boolean(0);
  const auto updated = is_later ? free_moment(connection, moment) : 0;
  connection
      .prepare(
          "UPDATE threads SET turn_count = turn_count + :turns, updated = CASE WHEN updated < :updated THEN :updated "
          "ELSE updated END WHERE id = :id")
      .bind(":turns", turns)
      .bind(":updated", updated)
      .bind(":id", id)
      .run();
  AGW_ASSERT(connection.changes() == 1);
  return thread_store::require(connection, id).thread;
}

}  // namespace

Transcript read(Connection& connection, const std::string& thread_id, const TranscriptQuery& query) {
  auto stored = thread_store::require(connection, thread_id);
  const auto after = number_after(connection, stored.number, query.after);
  const auto limit = static_cast<std::size_t>(query.limit.value);
  const auto numbers = numbers_after(connection, stored.number, after, limit);
  Transcript page{
      .thread = {std::move(stored.thread), task_store::list(connection, stored.number)}, .turns = {}, .next = {}};
  std::size_t bytes = 0;
  for (const auto number : numbers) {
    if (page.turns.size() == limit || bytes > max_page_bytes) {
      AGW_ASSERT(!page.turns.empty());
      page.next = page.turns.back().id;
      break;
    }
    auto found = turn_store::find(connection, number);
    if (!found) continue;
    bytes += found->bytes;
    auto& turn = page.turns.emplace_back();
    static_cast<Turn&>(turn) = std::move(found->turn);
    turn.in_reply_to = id_of(connection, found->answers);
  }
  return page;
}

Written write(Connection& connection, const PreparedImport& prepared) {
  AGW_ASSERT(connection.in_transaction());
  ImportOutcome outcome{.key = prepared.key, .id = prepared.thread.thread.id};
  const auto thread = thread_of(connection, prepared, outcome);
  turn_order_store::enter_newest(connection, thread.number);
  for (const auto& turn : prepared.turns) {
    const auto owner = owner_of(connection, turn.id);
    if (owner && *owner != thread.number) throw Conflict("turn belongs to another thread", {{"id", turn.id}});
    ++(owner ? outcome.turns_kept : outcome.turns_created);
    if (!owner) insert(connection, thread.number, turn);
  }
  AGW_ASSERT(std::cmp_equal(outcome.turns_created + outcome.turns_kept, prepared.turns.size()));
  if (!outcome.turns_created) return {std::move(outcome), thread.thread};
  auto changed = count_in(connection, outcome.id, outcome.turns_created, prepared.thread.moment);
  return {std::move(outcome), std::move(changed)};
}

}  // namespace agw::transfer_store
