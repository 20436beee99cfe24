#include "storage/checkpointer.hpp"

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/async/assert.hpp"
#include "base/log.hpp"

namespace agw {

namespace {

constexpr std::chrono::seconds interval{1};
/// How long the writer waits for reads. Most take a few milliseconds, and the next write must not be delayed much
/// longer.
constexpr std::chrono::milliseconds between_tries{1};
constexpr int max_tries = 30;
/// How often the writer waits. Each time, the reads that began before it have less to go, and newer ones prevent less.
constexpr int max_attempts = 4;
/// A reader with an old snapshot prevents more pages than this from being copied; overlapping short reads prevent
/// fewer.
constexpr int max_pages_to_wait_for = 4 * 1024;

/// The number of pages of the log that are not in the file yet; nullopt if `mode` waits for readers and the wait timed
/// out.
std::optional<int> run_checkpoint(Connection& connection, int mode) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(connection.handle());
  int in_log = 0;
  int copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(connection.handle(), "main", mode, &in_log, &copied);
  if (code == SQLITE_BUSY) return std::nullopt;
  connection.check(code, "checkpoint");
  AGW_DEBUG_ASSERT(copied <= in_log);
  return in_log - copied;
}

/// Replaces a connection's busy handler during its lifetime: SQLite waits only for reads of this process that began
/// before, and not for long.
class ScopedWaitForReads {
public:
  ScopedWaitForReads(Connection& connection, const ActiveReads& reads) : connection_(connection), reads_(reads) {
    auto row = connection.prepare("PRAGMA busy_timeout");
    row.step();
    previous_milliseconds_ = static_cast<int>(row.integer(0));
    AGW_DEBUG_ASSERT(previous_milliseconds_ > 0);
    sqlite3_busy_handler(connection.handle(), wait, this);
  }
  ~ScopedWaitForReads() { sqlite3_busy_timeout(connection_.handle(), previous_milliseconds_); }
  ScopedWaitForReads(const ScopedWaitForReads&) = delete;
  ScopedWaitForReads& operator=(const ScopedWaitForReads&) = delete;

private:
  /// SQLite calls it before each further try, until it returns 0.
  static int wait(void* self, int tries) {
    const auto& it = *static_cast<ScopedWaitForReads*>(self);
    if (tries >= max_tries || !it.reads_.any_among(it.count_)) return 0;
    std::this_thread::sleep_for(between_tries);
    return 1;
  }

  Connection& connection_;
  const ActiveReads& reads_;
  const std::uint64_t count_ = reads_.begun();
  int previous_milliseconds_ = 0;
};

}  // namespace

bool checkpoint(Connection& connection) { return run_checkpoint(connection, SQLITE_CHECKPOINT_PASSIVE) == 0; }

// Nothing is written meanwhile. So a read that begins now does not prevent the copying, and once all is copied, it does
// not use the log. What prevents the restart are the reads that had begun before then: an attempt during which the rest
// was copied leaves those of its own time to the next one.
void restart_log(Connection& connection, const ActiveReads& reads) {
  AGW_DEBUG_ASSERT(!connection.in_transaction());
  int before = std::numeric_limits<int>::max();
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const auto left = run_checkpoint(connection, SQLITE_CHECKPOINT_PASSIVE);
    // Waiting again for a long read would only delay the next write.
    if (!left || (*left > max_pages_to_wait_for && *left >= before)) return;
    before = *left;
    const ScopedWaitForReads wait(connection, reads);
    if (run_checkpoint(connection, SQLITE_CHECKPOINT_RESTART)) return;
  }
}

void Checkpointer::notify_commit() {
  {
    const std::lock_guard lock(mutex_);
    if (closing_ || (pending_ && thread_)) return;
    pending_ = true;
    start_thread();
  }
  changed_.notify_one();
}

// Called by SQLite, so it must not throw. Without a thread the log grows until a later commit can start one.
void Checkpointer::start_thread() {
  AGW_ASSERT(pending_);
  AGW_ASSERT(!closing_);
  try {
    if (!thread_) thread_.emplace("agw-checkpoint", [this] { work(); });
  } catch (const std::system_error& error) {
    if (!std::exchange(thread_failed_, true))
      log::warn("{}: {}-wal grows until one can be started; raise the limit (ulimit -u)", error.what(), file_);
  }
}

void Checkpointer::checkpoint_now() {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    // A commit before has started the thread, or left the next one to try.
    AGW_ASSERT(pending_ || thread_);
    urgent_ = true;
    copying_ = true;
  }
  changed_.notify_one();
}

bool Checkpointer::is_copying() {
  const std::lock_guard lock(mutex_);
  AGW_ASSERT(!urgent_ || copying_);
  return copying_ && thread_;
}

void Checkpointer::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.reset();
}

bool Checkpointer::wait_for_commit() {
  std::unique_lock lock(mutex_);
  AGW_ASSERT(!urgent_ || copying_);
  copying_ = urgent_;
  changed_.wait(lock, [this] { return pending_ || urgent_ || closing_; });
  changed_.wait_for(lock, interval, [this] { return urgent_ || closing_; });
  pending_ = false;
  urgent_ = false;
  copying_ = true;
  return !closing_;
}

void Checkpointer::work() {
  std::optional<Connection> connection;
  while (wait_for_commit()) {
    try {
      if (!connection) connection.emplace(file_, Connection::Access::read_write);
      // A reader still needs old pages; the rest can be copied once it has ended.
      if (!checkpoint(*connection)) notify_commit();
      failing_ = false;
    } catch (const DatabaseError& error) {
      if (!failing_) log::warn("cannot copy the log into {}, it stays in {}-wal: {}", file_, file_, error.what());
      failing_ = true;
    }
  }
}

}  // namespace agw
