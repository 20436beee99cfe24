#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/task.hpp"
#include "storage/connection.hpp"
#include "storage/migration.hpp"
#include "storage/row_insert.hpp"

namespace agw {

/// The one file that records live in (SQLite, WAL, synchronous=FULL). Its users hand it closures:
///
///     Thread thread = co_await database.write([=](Connection& connection) { return store::insert(connection, thread);
///     });
///
/// **An awaited write is on disk.** A writer thread takes all closures that wait (up to 64), commits once and
/// answers all. A closure that throws is rolled back alone and its exception reaches the caller. Closures are run again
/// when the group they were in was lost (another one threw, a full disk), so they capture by value and make no ids
/// and no times. A write cannot be cancelled: the caller resumes when it is decided. Completions reach the loop in
/// commit order.
///
/// Reads run on a small pool of threads, each with its own connection: one closure sees one snapshot.
///
/// What waits is bounded by who waits: a caller has one closure here at a time. The writer's thread starts at once, the
/// others when they are first needed.
class Database {
public:
  /// Requests go first; background work (indexing, purging) comes in pieces of at most 200 rows.
  enum class Lane { request, background };

  struct Options {
    std::filesystem::path file;     ///< `{data_dir}/gateway.db`
    std::filesystem::path backups;  ///< where it is copied before a migration; 3 are kept
    std::size_t readers = 2;
    std::size_t group_limit = 64;
    std::vector<Migration> migrations = embedded_migrations();
  };

  /// Opens or creates the file and applies the migrations (src/**/migrations/NNNN_*.sql, by number, in one
  /// transaction). Throws StartError: database_unusable (5) for a file that is corrupt, not a database, or newer than
  /// this binary (naming file and remedy, file untouched), failure (1) where it cannot be opened or written.
  Database(Loop& loop, const Options& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// On the loop. Throws what the closure throws, DiskFull, DatabaseError. A caller that is cancelled before it waits
  /// is not heard; afterwards it still gets the result.
  template <class Closure>
  auto write(Closure closure, Lane lane = Lane::request) -> Task<std::invoke_result_t<Closure, Connection&>> {
    return run_typed(Access::write, lane, std::move(closure));
  }
  /// Writes `row` by `insert_all(Connection&, std::span<const Row* const>)`, which gets the rows of all who wait for
  /// the same one behind the other, and is run again with fewer where the group was lost.
  template <auto insert_all, class Row>
  Task<> insert(std::shared_ptr<const Row> row) {
    return run(Access::write, Lane::request, row_insert<insert_all>(std::move(row)));
  }
  /// The same on a reader's thread. It sees every write that was awaited before.
  template <class Closure>
  auto read(Closure closure) -> Task<std::invoke_result_t<Closure, Connection&>> {
    return run_typed(Access::read, Lane::request, std::move(closure));
  }

  /// Before the first write, on the calling thread: for what the start needs. Throws std::logic_error after it.
  Connection& start_connection();

  /// Lets what is queued finish, refuses what comes later, ends the threads, checkpoints the log into the file. Blocks:
  /// new work begins for at most 4 s, and what is not on disk by then was not acknowledged. For the end of the process,
  /// when nobody waits any more. The destructor does it too.
  void close();

  /// Called on the loop each time that a write found no space.
  void on_disk_full(std::function<void()> handler) { on_disk_full_ = std::move(handler); }

  struct Statistics {
    std::uint64_t commits = 0;
    std::uint64_t writes = 0;  ///< closures decided, failed ones too
    std::size_t queued = 0;
  };
  Statistics statistics() const;

private:
  enum class Access { read, write };
  /// Type-erased work: runs on a thread with its connection; throws what the closure throws.
  using Work = std::function<void(Connection&)>;
  /// Queues `work` and resumes on the loop once it is decided (for writes: committed).
  Task<> run(Access access, Lane lane, Work work);

  template <class Closure>
  auto run_typed(Access access, Lane lane, Closure closure) -> Task<std::invoke_result_t<Closure, Connection&>> {
    using Result = std::invoke_result_t<Closure, Connection&>;
    if constexpr (std::is_void_v<Result>) {
      return run(access, lane, Work(std::move(closure)));
    } else {
      return run_for<Result>(access, lane, std::move(closure));
    }
  }

  template <class Result, class Closure>
  Task<Result> run_for(Access access, Lane lane, Closure closure) {
    auto result = std::make_shared<std::optional<Result>>();
    co_await run(access, lane, [result, closure = std::move(closure)](Connection& connection) mutable {
      result->emplace(closure(connection));
    });
    co_return std::move(**result);
  }

  std::function<void()> on_disk_full_;
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace agw
