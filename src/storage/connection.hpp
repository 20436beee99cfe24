#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace agw {

/// SQLite refused: `code` is its extended result code. A full disk is its own type, because a client may wait for
/// space.
class DatabaseError : public std::runtime_error {
public:
  DatabaseError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }

private:
  int code_;
};

/// No space left on the device: becomes 507 `disk full`. Nothing of the write is kept.
class DiskFull : public DatabaseError {
public:
  using DatabaseError::DatabaseError;
};

/// A prepared statement of a Connection, borrowed: reset, its bindings cleared and given back when it goes out of
/// scope.
///
///     auto row = connection.prepare("SELECT title FROM threads WHERE id = :id");
///     row.bind(":id", id);
///     if (row.step()) use(row.text(0));
class Statement {
public:
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  /// Text is copied. Throws std::logic_error for a parameter that the statement does not have: a fault of ours.
  template <class T>
  Statement& bind(const char* name, const T& value) {
    return set(position(name), value);
  }
  /// Binds the parameter behind the one that it bound before: for rows, whose parameters have no names.
  template <class T>
  Statement& bind_next(const T& value) {
    return set(++bound_, value);
  }

  /// Whether there is a (further) row. Throws DatabaseError.
  bool step();
  /// Runs it to its end and resets it, its bindings kept: for statements without rows. Throws DatabaseError.
  void run();

  // Columns of the current row, numbered from 0. Views live until the next step.
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
  using Shelf = std::vector<sqlite3_stmt*>;
  Statement(sqlite3_stmt* statement, Shelf& shelf) : statement_(statement), shelf_(&shelf) {}

  Statement& set(int position, std::integral auto value) {
    return set_integer(position, static_cast<std::int64_t>(value));
  }
  Statement& set(int position, double value);
  Statement& set(int position, std::string_view value);
  Statement& set(int position, Timestamp value) { return set_integer(position, value.time_since_epoch().count()); }
  Statement& set(int position, std::nullopt_t);
  template <class T>
  Statement& set(int position, const std::optional<T>& value) {
    return value ? set(position, *value) : set(position, std::nullopt);
  }
  Statement& set_integer(int position, std::int64_t value);
  int position(const char* name) const;
  void check(int code) const;

  sqlite3_stmt* statement_;
  Shelf* shelf_;
  int bound_ = 0;  ///< by bind_next
};

/// One connection to the database file, used by one thread at a time. Statements are prepared once and kept.
class Connection {
public:
  enum class Access { read_only, read_write };

  /// Opens the file, which exists. Throws DatabaseError.
  Connection(const std::string& path, Access access);
  /// The last connection to a file writes its log back into it.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// A statement for `sql`, ready to bind. It must not outlive the connection. Throws DatabaseError.
  Statement prepare(std::string_view sql);
  /// Runs statements without parameters, such as a migration's. Throws DatabaseError.
  void execute(const std::string& sql);

  std::int64_t last_insert_rowid() const;
  /// Rows changed by the latest INSERT, UPDATE or DELETE.
  int changes() const;
  /// Whether a transaction is open. Some errors (a full disk) end it.
  bool in_transaction() const;
  sqlite3* handle() const { return handle_; }
  /// For calls through `handle`: throws the DatabaseError that `code` stands for, unless it is SQLITE_OK.
  void check(int code, std::string_view during) const;

private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  sqlite3* handle_ = nullptr;
  /// What is not lent out, by text. A text lent twice at a time has two statements.
  std::unordered_map<std::string, Statement::Shelf, Hash, std::equal_to<>> statements_;
};

}  // namespace agw
