#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>

#include "base/task.hpp"
#include "storage/connection.hpp"

namespace agw {

/// The one file that records live in (SQLite, WAL, synchronous=FULL). Its users hand it closures:
///
///     Thread thread = co_await database.write([=](Connection& connection) { return store::insert(connection, thread);
///     });
///
/// **An awaited write is on disk.** A writer thread takes all closures that wait (up to 64), each in a savepoint,
/// commits once and answers all. A closure that throws is rolled back alone and its exception reaches the caller.
/// Closures are run again when the group they were in was lost (a full disk), so they capture by value and make no ids
/// and no times. A write cannot be cancelled: the caller resumes when it is decided. Completions reach the loop in
/// commit order.
///
/// Reads run on a small pool of threads, each with its own connection: one closure sees one snapshot.
class Database {
public:
  /// Requests go first; background work (indexing, purging) comes in pieces of at most 200 rows.
  enum class Lane { request, background };

  struct Options {
    std::filesystem::path file;     ///< `{data_dir}/gateway.db`
    std::filesystem::path backups;  ///< where it is copied before a migration; 3 are kept
    std::size_t readers = 2;
    std::size_t group_limit = 64;
    std::size_t queue_limit = 4096;  ///< writes that wait beyond this are awaited before they are queued
  };

  /// Opens or creates the file, applies the migrations compiled in (src/**/migrations/NNNN_*.sql, by number, in one
  /// transaction) and starts the threads. Throws StartError: database_unusable (5) for a file that is corrupt, not a
  /// database, or newer than this binary (naming file and remedy, file untouched), failure (1) where it cannot be
  /// opened or written.
  Database(Loop& loop, Options options);
  /// Checkpoints, closes. `close` was awaited before, or nothing is under way.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  template <class Closure>
  auto write(Closure closure, Lane lane = Lane::request) -> Task<std::invoke_result_t<Closure, Connection&>> {
    return run_typed(Access::write, lane, std::move(closure));
  }
  template <class Closure>
  auto read(Closure closure) -> Task<std::invoke_result_t<Closure, Connection&>> {
    return run_typed(Access::read, Lane::request, std::move(closure));
  }

  /// Before the loop runs, on the calling thread: for what the start needs.
  Connection& start_connection();

  /// Refuses new work, lets what is queued finish, ends the threads, checkpoints the log into the file. At most 5 s.
  void close();

  struct Statistics {
    std::uint64_t commits = 0;
    std::uint64_t writes = 0;
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
      co_await run(access, lane, Work(std::move(closure)));
    } else {
      auto result = std::make_shared<std::optional<Result>>();
      co_await run(access, lane, [result, closure = std::move(closure)](Connection& connection) mutable {
        result->emplace(closure(connection));
      });
      co_return std::move(**result);
    }
  }

  struct Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace agw
