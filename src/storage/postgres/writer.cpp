// How writes become durable on a server. storage/writer.cpp explains groups and items; this comment describes the
// differences.
//
// A group is one SERIALIZABLE transaction. Its outcome is one of four:
//
//   - committed: the callers are resumed.
//   - an item failed: all run again, each in a savepoint; if even that fails, each in its own transaction.
//   - a serialization failure or a deadlock (with another program): the whole group runs again, up to ten times, after
//     a random pause. Then its callers get 503; nothing was done.
//   - the connection was lost. Before COMMIT was sent, nothing is committed, and the group runs again. After that, the
//     outcome is unknown: the response may have been lost although the transaction was committed. Running the group
//     again might apply it twice, not running it might lose it.
//
// The server remembers the outcome of transactions (`pg_xact_status`), so each transaction begins by asking for its id.
// After a reconnection the writer looks the id up: `committed` resumes the callers with the results of that run,
// `aborted` runs the group again. No other status is possible: the new session has the owner's lock, so the old session
// has ended. While the server is away, the group waits, because any result would be a guess. Items queued after it were
// not begun, and get 503 once the server has been unreachable for ten seconds.
//
// Why there is a single writing connection: items run in queue order, and row numbers become visible in order, which
// the index of turns relies on. Groups share the cost of a commit as they do on a disk.

#include "storage/postgres/writer.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/log.hpp"

namespace agw::postgres {

namespace {

using namespace std::chrono_literals;

constexpr int max_attempts = 10;
constexpr auto max_conflict_pause = 50ms;

std::chrono::milliseconds random_pause() {
  static thread_local std::minstd_rand random{std::random_device{}()};
  return std::chrono::milliseconds{std::uniform_int_distribution<std::int64_t>{0, max_conflict_pause.count()}(random)};
}

}  // namespace

GroupWriter::GroupWriter(Loop& loop, Link link, Stop& stop, std::size_t group_limit)
    : loop_(loop),
      link_(std::move(link)),
      stop_(stop),
      group_limit_(group_limit),
      queue_(std::make_shared<WriteQueue>(loop)) {
  AGW_ASSERT(group_limit_ > 0);
  AGW_ASSERT(link_.is_connected());
  thread_.emplace("agw-writer", [this] { work(); });
}

GroupWriter::~GroupWriter() { close(WriteQueue::Clock::now()); }

void GroupWriter::add(std::unique_ptr<WorkItem> item, Database::Lane lane) {
  AGW_ASSERT(checker_.is_current());
  AGW_ASSERT(item);

  if (!thread_) return reject(loop_, std::move(item));
  has_begun_ = true;
  queue_->add(std::move(item), lane);
}

Connection& GroupWriter::start_connection() {
  AGW_ASSERT(checker_.is_current());

  AGW_CHECK(!has_begun_ && thread_, "the writer's connection belongs to its thread");
  return link_.connection();
}

void GroupWriter::close(WriteQueue::Clock::time_point deadline) {
  AGW_ASSERT(checker_.is_current());

  if (!thread_) return;
  queue_->close(deadline);
  thread_.reset();
  for (auto& item : queue_->take_oldest(queue_->lengths())) reject(loop_, std::move(item));
  // Otherwise a caller would wait forever.
  AGW_ASSERT(queue_->size() == 0);
  link_.drop();
}

void GroupWriter::work() {
  while (true) {
    auto items = queue_->take(group_limit_);
    if (items.empty()) return;
    AGW_ASSERT(items.size() <= group_limit_);
    run_group(items);
    writes_ += items.size();
    AGW_ASSERT(commits_ <= writes_);
    complete(loop_, std::move(items));
  }
}

void GroupWriter::run_group(const WorkItems& items) {
  try {
    if (items.size() > 1 &&
        (run_together(items, OnFailure::roll_back_group) || run_together(items, OnFailure::roll_back_item)))
      return;
  } catch (const std::exception&) {
    // The server is away or too busy.
    for (const auto& item : items) item->fail(std::current_exception());
    return;
  }
  for (const auto& item : items) run_alone(*item);
}

/// Returns whether the group's outcome is final. If not, it was rolled back, and no item's outcome counts.
bool GroupWriter::run_together(const WorkItems& items, OnFailure failing) {
  AGW_ASSERT(items.size() > 1);
  const auto in_savepoints = [&](Session& session, Connection& connection) {
    return std::ranges::all_of(items, [&](const auto& item) { return run_in_savepoint(*item, session, connection); });
  };
  const auto at_once = [&](Session&, Connection& connection) {
    for (std::span<const std::unique_ptr<WorkItem>> rest(items); !rest.empty();) {
      const auto done = run_batch(rest, connection);
      if (done == 0) return false;
      AGW_ASSERT(done <= rest.size());
      rest = rest.subspan(done);
    }
    return true;
  };
  try {
    return failing == OnFailure::roll_back_group ? transact(at_once) : transact(in_savepoints);
  } catch (const DatabaseUnavailable&) {
    throw;
  } catch (const DatabaseError&) {
    return false;  // Running each item alone shows the cause.
  }
}

bool GroupWriter::run_in_savepoint(WorkItem& item, Session& session, Connection& connection) {
  AGW_ASSERT(session.in_transaction());
  session.execute("SAVEPOINT job");
  item.run(connection);
  session.throw_if_repeatable();
  if (item.failed()) session.roll_back_to("job");
  session.throw_if_aborted();
  session.execute("RELEASE job");
  return true;
}

void GroupWriter::run_alone(WorkItem& item) {
  try {
    transact([&](Session&, Connection& connection) {
      item.run(connection);
      return !item.failed();
    });
  } catch (const std::exception&) {
    item.fail(std::current_exception());
  }
}

/// Runs `work` in one transaction until the outcome is final; false if `work` requested a rollback.
bool GroupWriter::transact(const Work& work) {
  AGW_ASSERT(work);
  for (int failures = 0;;) {
    AGW_ASSERT(failures < max_attempts);
    try {
      bool committed = false;
      if (try_to_transact(work, committed)) return committed;
    } catch (const SerializationFailure&) {
      if (++failures == max_attempts || stop_.wait(random_pause())) throw;
    }
  }
}

/// Returns false if the connection was lost during the transaction. Throws other failures of the commit.
bool GroupWriter::try_to_transact(const Work& work, bool& committed) {
  auto& session = link_.session();
  auto& connection = link_.connection();
  bool sent = false;
  AGW_ASSERT(!committed);
  try {
    session.begin_write();
    committed = work(session, connection);
    session.throw_if_repeatable();
    if (committed) {
      session.throw_if_aborted();
      sent = true;
      session.commit();
      ++commits_;
    }
  } catch (const ConnectionLost&) {
    const auto transaction = session.transaction_id();
    link_.drop();
    return sent && was_committed(transaction);
  } catch (const ServerReadOnly&) {
    link_.drop();  // after a failover, another server may take changes
    throw;
  } catch (...) {
    session.roll_back();
    throw;
  }
  if (!committed) session.roll_back();
  return true;
}

bool GroupWriter::was_committed(const std::string& transaction) {
  AGW_ASSERT(!transaction.empty());
  log::warn("the connection to the {} was lost during a commit: looking whether it was done", link_.address().name);
  while (true) {
    // Items that arrive during the attempt wait for the next one, because the server may be back by then.
    const auto waiting = queue_->lengths();
    try {
      const auto status = status_of(transaction);
      if (status == "committed") return true;
      if (status == "aborted") return false;
    } catch (const ConnectionLost&) {
      link_.drop();
      for (auto& item : queue_->take_oldest(waiting)) reject(loop_, std::move(item), std::current_exception());
    }
    if (stop_.wait(100ms) || stop_.has_timed_out()) throw ConnectionLost("the database is closed");
  }
}

std::string GroupWriter::status_of(const std::string& transaction) {
  try {
    auto row = link_.connection().prepare("SELECT pg_xact_status(CAST(CAST(:transaction AS text) AS xid8))");
    row.bind(":transaction", transaction);
    row.step();
    // The server forgets only transactions that are a billion transactions old.
    return row.is_null(0) ? "aborted" : row.string(0);
  } catch (const ServerError&) {
    return "aborted";  // An id from the future: the server was restored to an earlier state.
  }
}

}  // namespace agw::postgres
