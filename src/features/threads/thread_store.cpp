#include "features/threads/thread_store.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "features/threads/turn_order_store.hpp"
#include "storage/columns.hpp"

namespace agw::thread_store {

namespace {

using namespace std::chrono;

constexpr auto end_of_time = std::numeric_limits<std::int64_t>::max();

/// Each text is created once: building it costs more than finding its prepared statement.
std::string list_sql(std::string_view narrowed) {
  return fmt::format(
      "SELECT {} FROM threads WHERE {} AND updated < :before AND updated >= :since "
      "AND (:archived = 1 OR archived = 0) AND (:agent_id IS NULL OR agent_id IN (:agent_id, :agent_name)) "
      "AND (:project_id IS NULL OR project_id = :project_id) AND (:job_id IS NULL OR job_id = :job_id) "
      "ORDER BY updated DESC LIMIT :limit",
      columns(), narrowed);
}

/// The statement that uses the index of the most selective filter.
const std::string& list_sql(const ThreadFilter& filter, bool has_two_agent_ids) {
  static const std::string of_job = list_sql("job_id = :job_id");
  static const std::string of_project = list_sql("project_id = :project_id");
  static const std::string of_agent = list_sql("agent_id = :agent_id");
  // SQLite sorts the results of a list of values, so a single value has a separate statement.
  static const std::string of_agent_and_name = list_sql("agent_id IN (:agent_id, :agent_name)");
  static const std::string of_all = list_sql("TRUE");
  if (filter.job_id) return of_job;
  if (filter.project_id) return of_project;
  if (has_two_agent_ids) return of_agent_and_name;
  return filter.agent_id ? of_agent : of_all;
}

/// The `updated` of the thread that a page of the list follows. 0 for an unknown thread, which yields an empty page.
std::int64_t moment_of(Connection& connection, const std::string& id) {
  auto row = connection.prepare("SELECT updated FROM threads WHERE id = :id");
  row.bind(":id", id);
  return row.step() ? row.integer(0) : 0;
}

std::int64_t first_moment_after(Timestamp since) {
  // Later dates would overflow.
  constexpr auto last = Timestamp{floor<milliseconds>(microseconds::max())} - milliseconds{1};
  constexpr auto first = Timestamp{ceil<milliseconds>(microseconds::min())};
  return microseconds{std::clamp(since, first, last).time_since_epoch() + milliseconds{1}}.count();
}

TitledBy titled_by_of(std::string_view text) {
  if (text == to_text(TitledBy::person)) return TitledBy::person;
  return text == to_text(TitledBy::gateway) ? TitledBy::gateway : TitledBy::none;
}

constexpr auto thread_columns = columns_of<StoredThread>(
    Column{"threads.number", &StoredThread::number},
    Column{"threads.id", [](auto& stored) -> auto& { return stored.thread.id; }},
    Column{"agent_id", [](auto& stored) -> auto& { return stored.thread.agent_id; }},
    Column{"project_id", [](auto& stored) -> auto& { return stored.thread.project_id; }},
    Column{"job_id", [](auto& stored) -> auto& { return stored.thread.job_id; }},
    Column{"title", [](auto& stored) -> auto& { return stored.thread.title; }},
    Column{"archived", [](auto& stored) -> auto& { return stored.thread.archived; }},
    Column{"pinned", [](auto& stored) -> auto& { return stored.thread.pinned; }},
    Column{"mode", [](auto& stored) -> auto& { return stored.thread.mode; }, ThreadMode::plan},
    Column{"threads.created_at", [](auto& stored) -> auto& { return stored.thread.created_at; }},
    Column{"updated", [](StoredThread& stored, const Statement& row,
                         int column) { stored.thread.updated_at = time_of(row.integer(column)); }},
    Column{"turn_count", [](auto& stored) -> auto& { return stored.thread.turn_count; }},
    Column{"titled_by", [](StoredThread& stored, const Statement& row, int column) {
             stored.titled_by = titled_by_of(row.text(column));
           }});

/// Statements of many rows look up the next number and open tables and indexes only once.
constexpr std::size_t max_at_once = 16;

std::string make_insert_sql(std::string_view verb, std::size_t rows) {
  const std::vector<std::string_view> values(rows, "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  return fmt::format(
      "{} INTO threads (id, agent_id, project_id, job_id, title, titled_by, archived, mode, created_at, updated, "
      "turn_count) VALUES {}",
      verb, fmt::join(values, ", "));
}

Sql insert_sql(std::size_t rows) {
  struct Texts {
    std::string sqlite;
    std::string postgres;
  };
  static const auto texts = [] {
    std::array<Texts, max_at_once> made;
    // A failure rolls back the whole group anyway; OR FAIL avoids a journal for undoing the single statement.
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = {make_insert_sql("INSERT OR FAIL", i + 1), make_insert_sql("INSERT", i + 1)};
    return made;
  }();
  return {texts.at(rows - 1).sqlite, texts.at(rows - 1).postgres};
}

void bind(Statement& statement, const PreparedThread& prepared) {
  const Thread& thread = prepared.thread;
  statement.bind_next(thread.id)
      .bind_next(thread.agent_id)
      .bind_next(thread.project_id)
      .bind_next(thread.job_id)
      .bind_next(thread.title)
      .bind_next(to_text(prepared.titled_by))
      .bind_next(thread.archived)
      .bind_next(agw::to_text(thread.mode))
      .bind_next(thread.created_at)
      .bind_next(prepared.moment)
      .bind_next(thread.turn_count);
}

}  // namespace

Timestamp time_of(std::int64_t moment) { return Timestamp{floor<milliseconds>(microseconds{moment})}; }

std::string_view to_text(TitledBy titled_by) {
  switch (titled_by) {
    case TitledBy::none:
      return "nobody";
    case TitledBy::gateway:
      return "gateway";
    case TitledBy::person:
      return "person";
  }
  return {};
}

StoredThread read(const Statement& row) { return thread_columns.read(row); }

const std::string& columns() {
  static const auto names = thread_columns.names();
  return names;
}

void insert_all(Connection& connection, std::span<const PreparedThread* const> threads) {
  while (!threads.empty()) {
    const auto some = threads.first(std::min(threads.size(), max_at_once));
    auto statement = connection.prepare(insert_sql(some.size()));
    for (const auto* thread : some) bind(statement, *thread);
    statement.run();
    AGW_ASSERT(std::cmp_equal(connection.changes(), some.size()));
    threads = threads.subspan(some.size());
  }
}

/// Avoids RETURNING in SQLite, which creates a temporary table each time.
std::int64_t insert(Connection& connection, const PreparedThread& thread) {
  AGW_ASSERT(!thread.thread.id.empty());
  static const auto returning = make_insert_sql("INSERT", 1) + " RETURNING number";
  auto row = connection.prepare({insert_sql(1).sqlite, returning});
  bind(row, thread);
  const bool has_number = row.step();
  AGW_ASSERT(has_number == connection.is_postgres());
  const auto number = has_number ? row.integer(0) : connection.last_insert_rowid();
  // 0 stands for no thread.
  AGW_ASSERT(number > 0);
  return number;
}

std::optional<StoredThread> find(Connection& connection, const std::string& id) {
  static const auto sql = fmt::format("SELECT {} FROM threads WHERE id = :id", columns());
  auto row = connection.prepare(sql);
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return read(row);
}

StoredThread require(Connection& connection, const std::string& id) {
  auto found = find(connection, id);
  if (!found) throw thread_not_found();
  return std::move(*found);
}

Thread change(Connection& connection, const StoredThread& stored, std::optional<TitledBy> titled_by,
              std::int64_t moment) {
  AGW_ASSERT(stored.number > 0);
  AGW_ASSERT(moment >= 0);
  static const auto sql = fmt::format(
      "UPDATE threads SET title = :title, titled_by = coalesce(:titled_by, titled_by), archived = :archived, "
      "pinned = :pinned, mode = :mode, updated = CASE WHEN updated < :moment THEN :moment ELSE updated END "
      "WHERE number = :number RETURNING {}",
      columns());
  auto row = connection.prepare(sql);
  row.bind(":title", stored.thread.title)
      .bind(":titled_by", titled_by ? std::optional(to_text(*titled_by)) : std::nullopt)
      .bind(":archived", stored.thread.archived)
      .bind(":pinned", stored.thread.pinned)
      .bind(":mode", agw::to_text(stored.thread.mode))
      .bind(":moment", moment)
      .bind(":number", stored.number);
  AGW_CHECK(row.step(), "a thread that was just read is missing: " + stored.thread.id);
  return read(row).thread;
}

std::optional<Thread> retitle(Connection& connection, const std::string& id, const std::string& title) {
  static const auto sql = fmt::format(
      "UPDATE threads SET title = :title, titled_by = 'gateway' WHERE id = :id AND titled_by <> 'person' RETURNING {}",
      columns());
  auto row = connection.prepare(sql);
  row.bind(":title", title).bind(":id", id);
  if (!row.step()) return std::nullopt;
  return read(row).thread;
}

void remove(Connection& connection, const std::string& id) {
  // Its turns are purged later, by the row in `deleted_threads`.
  AGW_ASSERT(connection.in_transaction());
  const auto stored = require(connection, id);
  connection.prepare("INSERT INTO deleted_threads (number, agent_id) VALUES (:number, :agent_id)")
      .bind(":number", stored.number)
      .bind(":agent_id", stored.thread.agent_id)
      .run();
  turn_order_store::enter_newest(connection, stored.number);
  connection.prepare("DELETE FROM threads WHERE number = :number").bind(":number", stored.number).run();
  AGW_ASSERT(connection.changes() == 1);
}

std::vector<std::string> agent_ids(Connection& connection, const std::string& id,
                                   const std::optional<std::string>& name) {
  std::vector<std::string> ids{id};
  if (!name || *name == id) return ids;
  auto row = connection.prepare("SELECT 1 FROM threads WHERE agent_id = :name LIMIT 1");
  row.bind(":name", *name);
  if (row.step()) ids.push_back(*name);
  return ids;
}

void list(Connection& connection, const ThreadFilter& filter, const std::function<void(const Thread&)>& each) {
  std::vector<std::string> agents;
  if (filter.agent_id) agents = agent_ids(connection, *filter.agent_id, filter.agent_name);
  auto row = connection.prepare(list_sql(filter, agents.size() > 1));
  row.bind(":before", filter.before ? moment_of(connection, *filter.before) : end_of_time)
      .bind(":since", filter.since ? first_moment_after(*filter.since) : std::numeric_limits<std::int64_t>::min())
      .bind(":archived", filter.archived)
      .bind(":agent_id", filter.agent_id)
      .bind(":agent_name", agents.empty() ? std::nullopt : std::optional(agents.back()))
      .bind(":project_id", filter.project_id)
      .bind(":job_id", filter.job_id)
      .bind(":limit", filter.limit ? filter.limit->value : std::numeric_limits<std::int64_t>::max());
  while (row.step()) each(read(row).thread);
}

}  // namespace agw::thread_store
