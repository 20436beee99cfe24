// `Connection` and `Statement` for SQLite. For a database on a server, the first line of each function forwards the
// call to `remote_` (storage/postgres); the rest is SQLite. Errors become exceptions with SQLite's codes in both cases,
// so callers need not know the engine.

#include "storage/connection.hpp"

#include <sqlite3.h>

#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "io/files/disk_full.hpp"
#include "storage/wal_batching.hpp"

namespace agw {

namespace {

constexpr int busy_milliseconds = 5000;

/// Turns off SQLite's memory statistics, so that allocations of different threads do not contend for a mutex.
void configure_once() {
  static const int done = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  (void)done;
}

bool is_disk_full(int code, int system_error) {
  // SQLite does not report why the index of its log (the WAL index) could not grow.
  if (primary_code(code) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE) return true;
  return primary_code(code) == SQLITE_IOERR && agw::is_disk_full(std::error_code(system_error, std::system_category()));
}

[[noreturn]] void fail(sqlite3* handle, int code, std::string_view during) {
  const auto message =
      fmt::format("{} (SQLite {}, in: {})", handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code), code, during);
  if (is_disk_full(code, handle ? sqlite3_system_errno(handle) : 0)) throw DiskFull(code, message);
  throw DatabaseError(code, message);
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)),
      free_list_(other.free_list_),
      remote_(std::exchange(other.remote_, nullptr)),
      bound_(other.bound_) {}

Statement::~Statement() {
  if (remote_) [[unlikely]]
    remote_->release();
  if (!statement_) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  AGW_ASSERT(free_list_);
  AGW_ASSERT(sqlite3_stmt_busy(statement_) == 0);
  free_list_->push_back(statement_);
}

Statement& Statement::set(int position, double value) {
  if (remote_) [[unlikely]] {
    remote_->set_real(position, value);
    return *this;
  }
  AGW_ASSERT(statement_);
  AGW_ASSERT(position > 0);
  check(sqlite3_bind_double(statement_, position, value));
  return *this;
}

Statement& Statement::set(int position, std::string_view value) {
  if (remote_) [[unlikely]] {
    remote_->set_text(position, value);
    return *this;
  }
  AGW_ASSERT(statement_);
  AGW_ASSERT(position > 0);
  // An empty view may have a null address, which SQLite would bind as NULL.
  const char* text = value.empty() ? "" : value.data();
  check(sqlite3_bind_text64(statement_, position, text, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::set_null(int position, ValueType type) {
  if (remote_) [[unlikely]] {
    remote_->set_null(position, type);
    return *this;
  }
  AGW_ASSERT(statement_);
  AGW_ASSERT(position > 0);
  check(sqlite3_bind_null(statement_, position));
  return *this;
}

Statement& Statement::set_integer(int position, std::int64_t value) {
  if (remote_) [[unlikely]] {
    remote_->set_integer(position, value);
    return *this;
  }
  AGW_ASSERT(statement_);
  AGW_ASSERT(position > 0);
  check(sqlite3_bind_int64(statement_, position, value));
  return *this;
}

bool Statement::step() {
  if (remote_) [[unlikely]]
    return remote_->step();
  AGW_ASSERT(statement_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) check(code);
  return false;
}

void Statement::run() {
  while (step()) {
  }
  if (remote_) [[unlikely]]
    return remote_->reset();
  sqlite3_reset(statement_);
}

void Statement::require(int column) const {
  AGW_CHECK(column >= 0 && column < sqlite3_data_count(statement_),
            "a column was read that the statement does not have, or before its first row");
}

bool Statement::is_null(int column) const {
  if (remote_) [[unlikely]]
    return remote_->is_null(column);
  require(column);
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  if (remote_) [[unlikely]]
    return remote_->integer(column);
  require(column);
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
  if (remote_) [[unlikely]]
    return remote_->real(column);
  require(column);
  return sqlite3_column_double(statement_, column);
}

std::string_view Statement::text(int column) const {
  if (remote_) [[unlikely]]
    return remote_->text(column);
  require(column);

  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (!text) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

std::optional<double> Statement::optional_real(int column) const {
  if (is_null(column)) return std::nullopt;
  return real(column);
}

std::optional<std::string> Statement::optional_string(int column) const {
  if (is_null(column)) return std::nullopt;
  return string(column);
}

std::optional<Timestamp> Statement::optional_time(int column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

int Statement::position(const char* name) const {
  if (remote_) [[unlikely]]
    return remote_->position(name);
  const int position = sqlite3_bind_parameter_index(statement_, name);
  AGW_CHECK(position != 0, fmt::format("no parameter {} in: {}", name, sqlite3_sql(statement_)));
  return position;
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) fail(sqlite3_db_handle(statement_), code, sqlite3_sql(statement_));
}

bool DatabaseError::is_damage() const {
  const int kind = primary_code(code_);
  return kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB;
}

Connection::Connection(const std::string& path, Access access) {
  configure_once();
  const int mode = access == Access::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  const char* file_system = access == Access::read_only ? nullptr : wal_batching_vfs();
  const int code = sqlite3_open_v2(path.c_str(), &handle_,
                                   mode | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, file_system);
  try {
    if (code != SQLITE_OK) fail(handle_, code, path);
    sqlite3_busy_timeout(handle_, busy_milliseconds);
    // Double quotes delimit identifiers only; SQLite's fallback to a string would hide misspelt columns.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
    execute(access == Access::read_only
                ? "PRAGMA cache_size = -512; PRAGMA temp_store = MEMORY"
                : "PRAGMA cache_size = -4096; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY");
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Connection::~Connection() {
  for (const auto& [text, free_list] : statements_) {
    for (auto* statement : free_list) sqlite3_finalize(statement);
  }
  // A statement in use, or a running copy, would keep the file open.
  const int closed = sqlite3_close(handle_);
  AGW_ASSERT(closed == SQLITE_OK);
}

Statement Connection::prepare(std::string_view sql) {
  if (remote_) [[unlikely]]
    return Statement(remote_->prepare(sql));
  auto place = statements_.find(sql);
  if (place == statements_.end()) place = statements_.emplace(sql, Statement::FreeList{}).first;
  auto& free_list = place->second;
  if (!free_list.empty()) {
    auto* kept = free_list.back();
    free_list.pop_back();
    AGW_ASSERT(sqlite3_stmt_busy(kept) == 0);
    AGW_ASSERT(sqlite3_db_handle(kept) == handle_);
    return Statement(kept, free_list);
  }
  sqlite3_stmt* fresh = nullptr;
  const char* rest = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &fresh, &rest);
  if (code != SQLITE_OK) fail(handle_, code, sql);
  AGW_ASSERT(fresh);
  // SQLite would silently ignore a second statement.
  AGW_DEBUG_ASSERT(rest == sql.data() + sql.size());
  return Statement(fresh, free_list);
}

void Connection::execute(const std::string& sql) {
  if (remote_) [[unlikely]]
    return remote_->execute(sql);
  check(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr), std::string_view(sql).substr(0, 200));
}

void Connection::check(int code, std::string_view during) const {
  if (code != SQLITE_OK) fail(handle_, code, during);
}

void Connection::begin() {
  AGW_ASSERT(remote_ || !in_transaction());
  execute(remote_ ? "BEGIN ISOLATION LEVEL SERIALIZABLE" : "BEGIN IMMEDIATE");
  AGW_ASSERT(remote_ || in_transaction());
}

std::int64_t Connection::last_insert_rowid() const {
  AGW_CHECK(!remote_, "only SQLite has row ids: the statement needs RETURNING");
  return sqlite3_last_insert_rowid(handle_);
}

int Connection::changes() const { return remote_ ? remote_->changes() : sqlite3_changes(handle_); }

void Connection::release_memory() {
  if (handle_) sqlite3_db_release_memory(handle_);
}

bool Connection::in_transaction() const {
  return remote_ ? remote_->in_transaction() : sqlite3_get_autocommit(handle_) == 0;
}

}  // namespace agw
