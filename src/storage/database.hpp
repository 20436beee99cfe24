#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "storage/connection.hpp"
#include "storage/migration.hpp"
#include "storage/row_insert.hpp"
#include "storage/work.hpp"

namespace agw {

class StorageEngine;

/// Stores all records in a file (SQLite, WAL, synchronous=FULL) or in a server's database (storage/postgres). Callers
/// pass closures:
///
///     Thread thread = co_await database.write([=](Connection& connection) { return store::insert(connection, thread);
///     });
///
/// **An awaited write is on disk.** A writer thread takes all waiting closures (up to 64), commits once and completes
/// them together. If a closure throws, only its own changes are rolled back and its caller gets the exception. If the
/// whole group is rolled back (another closure threw, the disk was full), its closures run again. They must therefore
/// capture by value and must not create ids or times. A write cannot be cancelled: the caller resumes once the outcome
/// is known. Completions reach the loop in commit order.
///
/// Reads run on a small pool of threads, each with its own connection. Each closure sees one snapshot.
///
/// Each caller has at most one closure in the queue, so the number of callers bounds it. The writer's thread starts
/// immediately, the readers' threads on demand.
/// Example: src/storage/database_test.cpp: Database.ReturnsTheResultOfTheClosure
class Database {
public:
  /// Requests have priority. Background work (indexing, purging) is split into pieces of at most 200 rows.
  enum class Lane { request, background };

  struct Options {
    std::filesystem::path file;     ///< `{data_dir}/gateway.db`
    std::filesystem::path backups;  ///< copies made before migrations; 3 are kept
    std::size_t readers = 2;
    std::size_t group_limit = 64;
    std::vector<Migration> migrations = embedded_migrations();
  };

  /// Opens or creates the file and applies the migrations (src/**/migrations/NNNN_*.sql, by number, in one
  /// transaction). Throws StartError: database_unusable (5) if the file is corrupt, not a database, or newer than this
  /// binary (the message names the file and the remedy; the file is not changed), failure (1) if it cannot be opened or
  /// written.
  Database(Loop& loop, const Options& options);
  /// Uses another engine.
  Database(Loop& loop, std::unique_ptr<StorageEngine> engine);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Call it on the loop. Throws the closure's exception, DiskFull or DatabaseError. A cancellation has no effect once
  /// the write is queued: the caller still gets the result.
  template <class Closure>
  auto write(Closure closure, Lane lane = Lane::request) -> Task<std::invoke_result_t<Closure, Connection&>> {
    return run_typed(Access::write, lane, std::move(closure));
  }
  /// Inserts `row` through `insert_all(Connection&, std::span<const Row* const>)`. It receives the rows of all adjacent
  /// callers of the same function, and runs again with fewer rows if the group is rolled back.
  template <auto insert_all, class Row>
  Task<> insert(std::shared_ptr<const Row> row) {
    return run(Access::write, Lane::request, row_insert<insert_all>(std::move(row)));
  }
  /// Like `write`, but on a reader's thread. Sees every write that was awaited before.
  template <class Closure>
  auto read(Closure closure) -> Task<std::invoke_result_t<Closure, Connection&>> {
    return run_typed(Access::read, Lane::request, std::move(closure));
  }

  /// The writer's connection, for use during the start. Throws InternalError after the first write.
  Connection& start_connection();

  /// Call it when the gateway stops: callers that wait for an unreachable server get DatabaseUnavailable within about a
  /// second. No effect while the server is reachable.
  void hurry();

  /// Finishes queued work, rejects new work, ends the threads and checkpoints the log. Blocks. Starts queued work for
  /// at most 4 s; the rest was never acknowledged. Call it at the end of the process, when no caller waits any more.
  /// The destructor calls it too.
  void close();

  /// Sets a handler that is called on the loop whenever a write failed because the disk is full.
  void on_disk_full(std::function<void()> handler) { on_disk_full_ = std::move(handler); }

  struct Statistics {
    std::uint64_t commits = 0;
    std::uint64_t writes = 0;  ///< completed closures, including failed ones
    std::size_t queued = 0;
  };
  Statistics statistics() const;

private:
  enum class Access { read, write };
  /// Queues `work` and resumes on the loop once its outcome is known (for a write: once it is committed).
  Task<> run(Access access, Lane lane, DatabaseWork work);

  template <class Closure>
  auto run_typed(Access access, Lane lane, Closure closure) -> Task<std::invoke_result_t<Closure, Connection&>> {
    using Result = std::invoke_result_t<Closure, Connection&>;
    if constexpr (std::is_void_v<Result>) {
      return run(access, lane, std::move(closure));
    } else {
      auto result = std::make_shared<std::optional<Result>>();
      DatabaseWork work = [result, closure = std::move(closure)](Connection& connection) mutable {
        result->emplace(closure(connection));
      };
      return run_for(access, lane, std::move(work), std::move(result));
    }
  }

  /// One coroutine per result type instead of per closure, because coroutines take long to compile.
  template <class Result>
  Task<Result> run_for(Access access, Lane lane, DatabaseWork work, std::shared_ptr<std::optional<Result>> result) {
    co_await run(access, lane, std::move(work));
    co_return std::move(**result);
  }

  std::function<void()> on_disk_full_;
  Loop& loop_;
  std::unique_ptr<StorageEngine> engine_;
};

/// Removes up to `limit` records and returns how many it removed.
using RemoveBatch = std::function<int(Connection& connection, int limit)>;

/// Calls `remove` until no record is left or `stop` is requested between two calls, in batches of the background lane's
/// size. If a batch fails, the remaining records are kept and a warning names the `consequence`, a clause such as `old
/// runs are kept for a day`.
/// Example: src/storage/removal_test.cpp: Removal.GoesOnUntilAPieceIsNotFull
Task<> remove_in_batches(Database& database, StopSource& stop, std::string consequence, RemoveBatch remove);

}  // namespace agw
