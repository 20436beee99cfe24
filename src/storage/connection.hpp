#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time/time.hpp"
#include "storage/remote.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace agw {

/// The kind of error in an extended result code of SQLite (https://sqlite.org/rescode.html).
constexpr int primary_code(int code) { return code & 0xff; }

/// A database error. `code` is SQLite's extended result code, or the equivalent of PostgreSQL's error. A full disk has
/// a separate type, because a client may retry once there is space.
class DatabaseError : public std::runtime_error {
public:
  DatabaseError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }
  /// Whether the file is damaged, or no database.
  bool is_damage() const;

private:
  int code_;
};

/// No space left on the device; becomes 507 `disk full`. The write is rolled back completely.
class DiskFull : public DatabaseError {
public:
  using DatabaseError::DatabaseError;
};

/// A temporary failure; nothing was done. Becomes 503 with `answer`.
class DatabaseUnavailable : public DatabaseError {
public:
  DatabaseUnavailable(int code, std::string answer, const std::string& message)
      : DatabaseError(code, message), answer_(std::move(answer)) {}
  const std::string& answer() const { return answer_; }

private:
  std::string answer_;
};

/// Another node is running the thread, and nothing was done: send the request to that node, or retry later.
class ThreadElsewhere : public DatabaseError {
public:
  using DatabaseError::DatabaseError;
};

/// A statement that differs between the engines.
struct Sql {
  std::string_view sqlite;
  std::string_view postgres;
};

/// A prepared statement borrowed from a Connection. Its destructor resets it, clears its bindings and makes it
/// available again.
///
///     auto row = connection.prepare("SELECT title FROM threads WHERE id = :id");
///     row.bind(":id", id);
///     if (row.step()) use(row.text(0));
/// Example: src/storage/connection_test.cpp: ConnectionTest.ValuesRoundTrip
class Statement {
public:
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  /// Binds by name. Text is copied. Throws InternalError if the statement has no such parameter.
  template <class T>
  Statement& bind(const char* name, const T& value) {
    return set(position(name), value);
  }
  /// Binds the next parameter by position, for rows whose parameters have no names.
  template <class T>
  Statement& bind_next(const T& value) {
    return set(++bound_, value);
  }

  /// Steps to the next row; false if there is none. Throws DatabaseError.
  bool step();
  /// Runs a statement without rows to its end and resets it, keeping its bindings. Throws DatabaseError.
  void run();

  // Columns of the current row, numbered from 0. Views are valid until the next step.
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  bool boolean(int column) const { return integer(column) != 0; }
  double real(int column) const;
  std::string_view text(int column) const;
  std::string string(int column) const { return std::string(text(column)); }
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<double> optional_real(int column) const;
  std::optional<std::string> optional_string(int column) const;
  Timestamp time(int column) const { return Timestamp{std::chrono::milliseconds{integer(column)}}; }
  std::optional<Timestamp> optional_time(int column) const;

private:
  friend class Connection;
  using FreeList = std::vector<sqlite3_stmt*>;
  Statement(sqlite3_stmt* statement, FreeList& free_list) : statement_(statement), free_list_(&free_list) {}
  void require(int column) const;
  explicit Statement(RemoteStatement& remote) : statement_(nullptr), free_list_(nullptr), remote_(&remote) {}

  Statement& set(int position, std::integral auto value) {
    return set_integer(position, static_cast<std::int64_t>(value));
  }
  Statement& set(int position, double value);
  Statement& set(int position, std::string_view value);
  Statement& set(int position, Timestamp value) { return set_integer(position, value.time_since_epoch().count()); }
  Statement& set(int position, std::nullopt_t) { return set_null(position, ValueType::unknown); }
  template <class T>
  Statement& set(int position, const std::optional<T>& value) {
    return value ? set(position, *value) : set_null(position, type_of<T>());
  }
  template <class T>
  static constexpr ValueType type_of() {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, Timestamp>)
      return ValueType::integer;
    else if constexpr (std::is_floating_point_v<T>)
      return ValueType::real;
    else
      return ValueType::text;
  }
  Statement& set_null(int position, ValueType type);
  Statement& set_integer(int position, std::int64_t value);
  int position(const char* name) const;
  void check(int code) const;

  sqlite3_stmt* statement_;
  FreeList* free_list_;
  RemoteStatement* remote_ = nullptr;  ///< replaces the two members above
  int bound_ = 0;                      ///< the number of parameters bound by bind_next
};

/// A connection to the database, used by one thread at a time. Caches prepared statements.
class Connection {
public:
  enum class Access { read_only, read_write };

  /// Opens an existing file; `path` may be an SQLite URI (`file:…?immutable=1`). Throws DatabaseError.
  Connection(const std::string& path, Access access);
  /// Uses a connection to a server.
  explicit Connection(std::unique_ptr<RemoteConnection> remote) : remote_(std::move(remote)) {}
  /// Closing the last connection to a file checkpoints its log.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// A statement for `sql`, ready to bind. It must not outlive the connection. Throws DatabaseError.
  Statement prepare(std::string_view sql);
  Statement prepare(const Sql& sql) { return prepare(remote_ ? sql.postgres : sql.sqlite); }
  /// Runs statements without parameters, such as those of a migration. Throws DatabaseError.
  void execute(const std::string& sql);

  /// Begins a transaction that can write.
  void begin();

  /// Whether the database is PostgreSQL, which lacks features of SQLite such as our own SQL functions.
  bool is_postgres() const { return remote_ != nullptr; }
  /// SQLite only; use `RETURNING` for PostgreSQL. Throws InternalError.
  std::int64_t last_insert_rowid() const;
  /// The number of rows changed by the latest INSERT, UPDATE or DELETE.
  int changes() const;
  /// Whether a transaction is open. Some errors, such as a full disk, end it.
  bool in_transaction() const;
  /// Frees the cached pages of a file. The next statements read theirs again, usually from the system's page cache.
  void release_memory();
  /// SQLite only, else null.
  sqlite3* handle() const { return handle_; }
  /// For direct calls through `handle`: throws the DatabaseError for `code` unless it is SQLITE_OK.
  void check(int code, std::string_view during) const;

private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  sqlite3* handle_ = nullptr;
  std::unique_ptr<RemoteConnection> remote_;
  /// Statements not in use, by SQL text. There are two for a text that was borrowed twice at the same time.
  std::unordered_map<std::string, Statement::FreeList, Hash, std::equal_to<>> statements_;
};

}  // namespace agw
