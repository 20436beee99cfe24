#include "features/checkpoints/store.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "storage/columns.hpp"

namespace agw {

namespace {

constexpr std::array<std::string_view, 5> kinds{"absent", "file", "symlink", "directory", "other"};
constexpr std::array<std::string_view, 3> change_kinds{"write", "undo", "redo"};
constexpr std::string_view command_cut_off =
    "a command still runs, or ran when the gateway was killed: what it changed here is not recorded";

static_assert(kinds.size() == static_cast<std::size_t>(EntryKind::other) + 1);
static_assert(change_kinds.size() == static_cast<std::size_t>(StoredChange::Kind::redo) + 1);

template <class E, std::size_t size>
E kind_from(const std::array<std::string_view, size>& names, std::string_view name) {
  for (std::size_t i = 0; i < size; ++i) {
    if (names.at(i) == name) return static_cast<E>(i);
  }
  throw std::runtime_error("the database holds an unknown value: " + std::string(name));
}

}  // namespace

template <>
struct ColumnValue<EntryKind> {
  static EntryKind read(const Statement& row, int column) { return kind_from<EntryKind>(kinds, row.text(column)); }
  static std::string_view bound(EntryKind kind) { return kinds.at(static_cast<std::size_t>(kind)); }
};

template <>
struct ColumnValue<StoredChange::Kind> {
  static StoredChange::Kind read(const Statement& row, int column) {
    return kind_from<StoredChange::Kind>(change_kinds, row.text(column));
  }
  static std::string_view bound(StoredChange::Kind kind) { return change_kinds.at(static_cast<std::size_t>(kind)); }
};

namespace checkpoint_store {

namespace {

constexpr auto columns = columns_of<StoredChange>(
    Column{"run_id", &StoredChange::run_id}, Column{"thread_id", &StoredChange::thread_id},
    Column{"root", &StoredChange::root}, Column{"path", &StoredChange::path}, Column{"kind", &StoredChange::kind},
    Column{"before_kind", [](auto& row) -> auto& { return row.before.kind; }},
    Column{"before_hash", [](auto& row) -> auto& { return row.before.hash; }},
    Column{"before_mode", [](auto& row) -> auto& { return row.before.mode; }},
    Column{"before_modified_ns", [](auto& row) -> auto& { return row.before.modified_ns; }},
    Column{"before_accessed_ns", [](auto& row) -> auto& { return row.before.accessed_ns; }},
    Column{"after_kind", [](auto& row) -> auto& { return row.after.kind; }},
    Column{"after_hash", [](auto& row) -> auto& { return row.after.hash; }},
    Column{"after_mode", [](auto& row) -> auto& { return row.after.mode; }},
    Column{"after_modified_ns", [](auto& row) -> auto& { return row.after.modified_ns; }},
    Column{"after_accessed_ns", [](auto& row) -> auto& { return row.after.accessed_ns; }},
    Column{"created_at", &StoredChange::created_at}, Column{"undone_by", &StoredChange::undone_by},
    Column{"settled", &StoredChange::settled});

int forget_in(Connection& connection, std::string_view table, std::string_view key, Timestamp oldest, int limit) {
  connection
      .prepare(fmt::format("DELETE FROM {0} WHERE ({1}) IN "
                           "(SELECT {1} FROM {0} WHERE created_at < :oldest LIMIT :limit)",
                           table, key))
      .bind(":oldest", oldest)
      .bind(":limit", limit)
      .run();
  return connection.changes();
}

std::vector<StoredChange> changes_in(Statement& rows) {
  std::vector<StoredChange> changes;
  while (rows.step()) {
    const auto before = changes.empty() ? 0 : changes.back().number;
    changes.push_back(columns.read(rows));
    changes.back().number = rows.integer(columns.count);
    AGW_ASSERT(changes.back().number > before);
  }
  return changes;
}

}  // namespace

std::int64_t insert(Connection& connection, const StoredChange& change) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(change.number == 0);
  AGW_ASSERT(!change.path.empty());
  AGW_ASSERT(!change.undone_by);
  AGW_ASSERT(change.settled == (change.kind == StoredChange::Kind::write));
  static const auto sql = columns.insert_into("file_changes") + " RETURNING number";
  auto statement = connection.prepare(sql);
  const bool has_number = columns.bind(statement, change).step();
  AGW_ASSERT(has_number);
  return statement.integer(0);
}

void insert_uncovered(Connection& connection, const std::string& run_id, const UncoveredChange& uncovered,
                      Timestamp now) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!uncovered.reason.empty());
  // `end_command` would remove it.
  AGW_ASSERT(uncovered.reason != command_cut_off);
  connection
      .prepare(
          "INSERT INTO uncovered_changes (run_id, path, reason, created_at) VALUES (:run, :path, :reason, :now) "
          "ON CONFLICT (run_id, path) DO UPDATE SET reason = excluded.reason")
      .bind(":run", run_id)
      .bind(":path", uncovered.path)
      .bind(":reason", uncovered.reason)
      .bind(":now", now)
      .run();
}

std::vector<StoredChange> of_run(Connection& connection, const std::string& run_id) {
  static const auto sql =
      fmt::format("SELECT {}, number FROM file_changes WHERE run_id = :run ORDER BY number", columns.names());
  auto rows = connection.prepare(sql);
  rows.bind(":run", run_id);
  return changes_in(rows);
}

std::vector<StoredChange> unsettled(Connection& connection) {
  static const auto sql =
      fmt::format("SELECT {}, number FROM file_changes WHERE settled = 0 ORDER BY number", columns.names());
  auto rows = connection.prepare(sql);
  return changes_in(rows);
}

void add_host(Connection& connection, const std::string& run_id, const ContactedHost& host, Timestamp now) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(host.connections > 0);
  connection
      .prepare(
          "INSERT INTO contacted_hosts (run_id, host, port, allowed, reason, connections, created_at) "
          "VALUES (:run, :host, :port, :allowed, :reason, :connections, :now) ON CONFLICT (run_id, host, port, "
          "allowed) "
          "DO UPDATE SET connections = contacted_hosts.connections + excluded.connections, reason = excluded.reason")
      .bind(":run", run_id)
      .bind(":host", host.host)
      .bind(":port", std::int64_t{host.port})
      .bind(":allowed", std::int64_t{host.allowed})
      .bind(":reason", host.reason)
      .bind(":connections", host.connections)
      .bind(":now", now)
      .run();
}

std::vector<ContactedHost> hosts_of(Connection& connection, const std::string& run_id) {
  std::vector<ContactedHost> hosts;
  auto rows = connection.prepare(
      "SELECT host, port, allowed, reason, connections FROM contacted_hosts WHERE run_id = :run "
      "ORDER BY host, port, allowed");
  rows.bind(":run", run_id);
  while (rows.step()) {
    hosts.push_back({.host = rows.string(0),
                     .port = static_cast<int>(rows.integer(1)),
                     .allowed = rows.integer(2) != 0,
                     .reason = rows.string(3),
                     .connections = rows.integer(4)});
  }
  return hosts;
}

void begin_command(Connection& connection, const std::string& run_id, const std::string& tree, Timestamp now) {
  AGW_ASSERT(connection.in_transaction());
  connection
      .prepare(
          "INSERT INTO uncovered_changes (run_id, path, reason, created_at) VALUES (:run, :path, :reason, :now) "
          "ON CONFLICT (run_id, path) DO NOTHING")
      .bind(":run", run_id)
      .bind(":path", tree)
      .bind(":reason", command_cut_off)
      .bind(":now", now)
      .run();
}

void end_command(Connection& connection, const std::string& run_id) {
  AGW_ASSERT(connection.in_transaction());
  connection.prepare("DELETE FROM uncovered_changes WHERE run_id = :run AND reason = :reason")
      .bind(":run", run_id)
      .bind(":reason", command_cut_off)
      .run();
}

std::vector<UncoveredChange> uncovered_of(Connection& connection, const std::string& run_id) {
  std::vector<UncoveredChange> uncovered;
  auto rows = connection.prepare("SELECT path, reason FROM uncovered_changes WHERE run_id = :run ORDER BY path");
  rows.bind(":run", run_id);
  while (rows.step()) uncovered.push_back({rows.string(0), rows.string(1)});
  return uncovered;
}

std::vector<std::string> runs_after(Connection& connection, const std::string& thread_id, Timestamp time) {
  std::vector<std::string> runs;
  auto rows = connection.prepare(
      "SELECT run_id FROM file_changes WHERE thread_id = :thread AND created_at > :time AND kind = 'write' "
      "GROUP BY run_id ORDER BY max(number) DESC");
  rows.bind(":thread", thread_id).bind(":time", time);
  while (rows.step()) runs.push_back(rows.string(0));
  return runs;
}

std::vector<StoredChange> of_other_runs(Connection& connection, const StoredChange& change, std::int64_t number) {
  static const auto sql = fmt::format(
      "SELECT {}, number FROM file_changes WHERE number > :number AND path = :path AND run_id <> :run ORDER BY number",
      columns.names());
  auto rows = connection.prepare(sql);
  rows.bind(":number", number).bind(":path", change.path).bind(":run", change.run_id);
  return changes_in(rows);
}

std::optional<StoredState> before_run(Connection& connection, const std::string& run_id, const std::string& path) {
  static const auto sql =
      fmt::format("SELECT {}, number FROM file_changes WHERE run_id = :run AND path = :path ORDER BY number LIMIT 1",
                  columns.names());
  auto rows = connection.prepare(sql);
  rows.bind(":run", run_id).bind(":path", path);
  const auto found = changes_in(rows);
  return found.empty() ? std::nullopt : std::optional(found.front().before);
}

std::int64_t last_number(Connection& connection) {
  auto row = connection.prepare("SELECT coalesce(max(number), 0) FROM file_changes");
  return row.step() ? row.integer(0) : 0;
}

std::int64_t insert_undo(Connection& connection, const StoredChange& change, const std::vector<std::int64_t>& undone) {
  AGW_ASSERT(change.kind != StoredChange::Kind::write);
  AGW_ASSERT(!undone.empty());
  const auto number = insert(connection, change);
  auto statement = connection.prepare("UPDATE file_changes SET undone_by = :by WHERE number = :number");
  AGW_DEBUG_ASSERT(number > std::ranges::max(undone));
  for (const auto each : undone) statement.bind(":by", number).bind(":number", each).run();
  return number;
}

void withdraw(Connection& connection, std::int64_t number) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(number > 0);
  connection.prepare("UPDATE file_changes SET undone_by = NULL WHERE undone_by = :number")
      .bind(":number", number)
      .run();
  connection.prepare("DELETE FROM file_changes WHERE number = :number").bind(":number", number).run();
}

void settle(Connection& connection, const StoredChange& change) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(change.number > 0);
  AGW_ASSERT(change.kind != StoredChange::Kind::write);
  if (change.kind == StoredChange::Kind::redo) {
    connection
        .prepare(
            "UPDATE file_changes SET undone_by = NULL WHERE undone_by IN "
            "(SELECT number FROM file_changes WHERE undone_by = :number)")
        .bind(":number", change.number)
        .run();
  }
  connection.prepare("UPDATE file_changes SET settled = 1 WHERE number = :number").bind(":number", change.number).run();
}

int forget(Connection& connection, Timestamp oldest, int limit) {
  AGW_ASSERT(limit > 0);
  auto left = limit;
  left -= forget_in(connection, "file_changes", "number", oldest, left);
  left -= forget_in(connection, "uncovered_changes", "run_id, path", oldest, left);
  left -= forget_in(connection, "contacted_hosts", "run_id, host, port, allowed", oldest, left);
  AGW_ASSERT(left >= 0);
  return limit - left;
}

}  // namespace checkpoint_store

}  // namespace agw
