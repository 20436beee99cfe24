// How writes become durable. docs/design/storage.md has the reasons and the measurements.
//
// An *item* is one caller's closure, and later its completion. A *group* is the items that are committed together: up
// to 64 requests, or one item of background work. The *log* is SQLite's write-ahead log.
//
// The invariant: a caller gets its result only after the transaction that contains its item is on disk. With
// `synchronous = FULL`, COMMIT returns after the log was synced. If an item throws, its caller gets the exception, the
// database contains nothing of it, and the other items of the group are not affected.
//
// The thread repeats:
//
//   1. Take a group. The queue decides which lane is next, and when the thread wakes (write_queue.hpp).
//   2. Run all items in one transaction, without savepoints, and commit. Nearly every group ends here.
//   3. If an item threw or the commit failed, roll back and run all items again, each in a savepoint. Those that throw
//      are rolled back to their savepoint; the others are committed.
//   4. If SQLite has rolled back the whole transaction, which a full disk makes it do even inside a savepoint, or if
//      the commit failed again, run each item in its own transaction. Only the write that fails reports an error.
//      A group of one item begins here.
//   5. Announce the successful items that have a thread waiting for them (announced_write.hpp). Complete all items, in
//      the order of the group, with a single post to the loop.
//   6. If the log is long, have it checkpointed (`limit_log_size`).
//
// So an item may run three times, and only its last run counts. It must change nothing outside the database.
//
// Why this is correct: steps 2 and 3 either commit all successful items of the group or leave nothing, because an
// uncommitted transaction is rolled back before the next attempt. In step 3 a savepoint isolates an item as its own
// transaction would, and in step 4 it has its own. An item that fails in step 2 because of another item (a full disk, a
// name that the other item took and then lost) runs again without the other's changes, so no caller gets an error
// caused by another item.
//
// A kill
//   - before COMMIT has synced the log: the next process to open the database ignores the unfinished transaction. No
//     caller of the group has been answered.
//   - between that sync and step 5: the group is durable, and no caller knows. A client that repeats its request with
//     the same `Idempotency-Key` gets the response that the transaction stored.
//   - during a checkpoint: the log still contains every page, and the next checkpoint copies them again.

#include "storage/writer.hpp"

#include <sqlite3.h>

#include <algorithm>

#include "base/async/assert.hpp"
#include "base/log.hpp"

namespace agw {

namespace {

constexpr int bytes_of_page = 4096;
/// Large, because a page that was written many times is copied into the file only once; not larger, because a start
/// after a crash reads all of it.
constexpr int long_log = 64 * 1024 * 1024 / bytes_of_page;
constexpr int retry_after = long_log / 4;
/// SQLite did not restart such a log although all of it was copied, because some reader always uses it.
constexpr int very_long_log = 2 * long_log;
static_assert(retry_after > 0);
static_assert(long_log + retry_after < very_long_log);  // some attempts do not wait for readers

}  // namespace

Writer::Writer(Loop& loop, std::unique_ptr<Connection> connection, std::string file, std::size_t group_limit,
               const ActiveReads& reads)
    : loop_(loop),
      group_limit_(group_limit),
      reads_(reads),
      connection_(std::move(connection)),
      checkpointer_(std::move(file)),
      queue_(std::make_shared<WriteQueue>(loop)),
      checkpoint_at_(long_log) {
  AGW_ASSERT(connection_);
  AGW_ASSERT(!connection_->in_transaction());
  AGW_ASSERT(group_limit_ > 0);
  const auto notify_commit = [](void* self, sqlite3*, const char*, int pages) {
    static_cast<Writer*>(self)->log_pages_ = pages;
    static_cast<Writer*>(self)->checkpointer_.notify_commit();
    return SQLITE_OK;
  };
  sqlite3_wal_hook(connection_->handle(), notify_commit, this);
  // Started here rather than with the first item: a gateway that cannot write must not start.
  thread_.emplace("agw-writer", [this] { work(); });
}

Writer::~Writer() { close(WriteQueue::Clock::now()); }

void Writer::add(std::unique_ptr<WorkItem> item, Database::Lane lane) {
  AGW_ASSERT(checker_.is_current());
  AGW_ASSERT(item);

  if (!connection_) return reject(loop_, std::move(item));
  has_begun_ = true;
  queue_->add(std::move(item), lane);
}

Connection& Writer::start_connection() {
  AGW_ASSERT(checker_.is_current());

  AGW_CHECK(!has_begun_ && connection_, "the writer's connection belongs to its thread");
  return *connection_;
}

void Writer::close(WriteQueue::Clock::time_point deadline) {
  AGW_ASSERT(checker_.is_current());

  if (!connection_) return;
  queue_->close(deadline);
  thread_.reset();
  for (auto& item : queue_->take_oldest(queue_->lengths())) reject(loop_, std::move(item));
  // Otherwise a caller would wait forever.
  AGW_ASSERT(queue_->size() == 0);
  checkpointer_.close();
  if (WriteQueue::Clock::now() >= deadline) {
    sqlite3_db_config(connection_->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  connection_.reset();
}

void Writer::work() {
  bool is_mine = false;  // before the first group, the start uses the connection on its own thread
  while (true) {
    auto items = queue_->take(group_limit_, [&] {
      if (is_mine) connection_->release_memory();
    });
    if (items.empty()) return;
    is_mine = true;
    AGW_ASSERT(items.size() <= group_limit_);
    run_group(items);
    for (const auto& item : items) item->announce();
    writes_ += items.size();
    AGW_ASSERT(commits_ <= writes_);
    complete(loop_, std::move(items));
    limit_log_size();
  }
}

void Writer::run_group(const WorkItems& items) {
  // A savepoint costs about as much as a small write, and failures are rare, so only groups with a failed item use
  // them.
  if (items.size() > 1 &&
      (run_together(items, OnFailure::roll_back_group) || run_together(items, OnFailure::roll_back_item)))
    return;
  for (const auto& item : items) run_alone(*item);
}

/// Returns whether the group's outcome is final. If not, it was rolled back, and no item's outcome counts.
bool Writer::run_together(const WorkItems& items, OnFailure failing) {
  bool done = false;
  try {
    connection_->prepare("BEGIN IMMEDIATE").run();
    done = failing == OnFailure::roll_back_group
               ? run_without_savepoints(items)
               : std::ranges::all_of(items, [this](const auto& item) { return run_in_savepoint(*item); });
    AGW_ASSERT(!done || connection_->in_transaction());
    if (done) commit();
  } catch (const DatabaseError&) {
    done = false;  // running each item alone shows the cause
  }
  if (!done) roll_back();
  return done;
}

bool Writer::run_without_savepoints(std::span<const std::unique_ptr<WorkItem>> items) {
  while (!items.empty()) {
    const auto done = run_batch(items, *connection_);
    AGW_ASSERT(done <= items.size());
    if (done == 0 || !connection_->in_transaction()) return false;
    items = items.subspan(done);
  }
  return true;
}

/// Returns false if the whole transaction was rolled back, including successful items, as by a full disk.
bool Writer::run_in_savepoint(WorkItem& item) {
  AGW_ASSERT(connection_->in_transaction());
  connection_->prepare("SAVEPOINT job").run();
  item.run(*connection_);
  if (!connection_->in_transaction()) return false;
  if (item.failed()) connection_->prepare("ROLLBACK TO job").run();
  connection_->prepare("RELEASE job").run();
  return true;
}

void Writer::run_alone(WorkItem& item) {
  try {
    connection_->prepare("BEGIN IMMEDIATE").run();
    item.run(*connection_);
    if (!item.failed()) commit();
  } catch (const DatabaseError&) {
    item.fail(std::current_exception());
  }
  roll_back();
}

void Writer::commit() {
  connection_->prepare("COMMIT").run();
  AGW_ASSERT(!connection_->in_transaction());
  ++commits_;
}

void Writer::roll_back() {
  if (!connection_->in_transaction()) return;
  try {
    connection_->prepare("ROLLBACK").run();
    AGW_ASSERT(!connection_->in_transaction());
  } catch (const DatabaseError& error) {
    log::error("cannot roll back: {}", error.what());
  }
}

/// SQLite restarts the log only once all of it has been checkpointed. The checkpointer copies most of it while it
/// grows; the writer copies the rest, because nothing is added during that time. Overlapping readers prevent the
/// restart; for a very long log, the writer waits for those of this process.
void Writer::limit_log_size() {
  AGW_ASSERT(log_pages_ >= 0);
  AGW_ASSERT(checkpoint_at_ >= long_log);
  if (log_pages_ < long_log) {
    checkpoint_at_ = long_log;
    is_mostly_copied_ = false;
  }
  if (log_pages_ < checkpoint_at_ || checkpointer_.is_copying()) return;
  if (!std::exchange(is_mostly_copied_, true)) return checkpointer_.checkpoint_now();
  is_mostly_copied_ = false;
  checkpoint_at_ = log_pages_ + retry_after;
  AGW_ASSERT(checkpoint_at_ > long_log);
  try {
    if (log_pages_ < very_long_log) {
      checkpoint(*connection_);
    } else {
      restart_log(*connection_, reads_);
    }
  } catch (const DatabaseError& error) {
    log::warn("cannot copy the log into the database: {}", error.what());
  }
}

}  // namespace agw
