#pragma once

#include <sqlite3.h>

#include <future>
#include <string>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/task_group.hpp"
#include "storage/database.hpp"
#include "testing/scratch_directory.hpp"

namespace agw::testing {

/// Runs the loop until `reached` returns true.
inline Task<> until(std::function<bool()> reached) {
  auto executor = co_await asio::this_coro::executor;
  while (!reached()) co_await asio::post(executor, asio::use_awaitable);
}

/// A database in a temporary directory, with one table: `rows (number INTEGER PRIMARY KEY, text TEXT)`.
class TestDatabase {
public:
  static Database::Options options(const ScratchDirectory& directory, std::size_t group_limit = 64) {
    Database::Options options;
    options.group_limit = group_limit;
    options.file = directory.path() / "gateway.db";
    options.backups = directory.path() / "backups";
    options.migrations = {{1, "0001_rows.sql", "CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)"}};
    return options;
  }

  explicit TestDatabase(Loop& loop, std::size_t group_limit = 64) : database_(loop, options(directory_, group_limit)) {}

  Database* operator->() { return &database_; }
  Database& operator*() { return database_; }
  std::filesystem::path file() const { return directory_.path() / "gateway.db"; }
  const ScratchDirectory& directory() const { return directory_; }

private:
  ScratchDirectory directory_;
  Database database_;
};

inline void insert(Connection& connection, std::int64_t number, std::string_view text = "text") {
  connection.prepare("INSERT INTO rows (number, text) VALUES (:number, :text)")
      .bind(":number", number)
      .bind(":text", text)
      .run();
}

inline std::vector<std::int64_t> numbers(Connection& connection) {
  std::vector<std::int64_t> numbers;
  auto row = connection.prepare("SELECT number FROM rows ORDER BY number");
  while (row.step()) numbers.push_back(row.integer(0));
  return numbers;
}

/// The memory of the connection's pages.
inline int cached_bytes(Connection& connection) {
  int now = 0;
  int peak = 0;
  connection.check(sqlite3_db_status(connection.handle(), SQLITE_DBSTATUS_CACHE_USED, &now, &peak, 0), "status");
  return now;
}

/// The numbers that another program reads from the file.
inline std::vector<std::int64_t> numbers_on_disk(const std::filesystem::path& file) {
  Connection connection(file.string(), Connection::Access::read_only);
  return numbers(connection);
}

/// Keeps the writer busy until `open` is called, so that all writes queued before form one group.
class Gate {
public:
  /// Returns once the writer is blocked. `group` owns the coroutine that waits there.
  Task<> shut(Database& database, TaskGroup& group) {
    group.spawn(hold(database));
    co_await until([this] { return reached_->load(); });
  }
  void open() { gate_->set_value(); }

private:
  Task<> hold(Database& database) {
    co_await database.write([reached = reached_, opened = gate_->get_future().share()](Connection&) {
      *reached = true;
      opened.wait();
    });
  }

  std::shared_ptr<std::atomic<bool>> reached_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::promise<void>> gate_ = std::make_shared<std::promise<void>>();
};

}  // namespace agw::testing
