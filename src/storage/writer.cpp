#include "storage/writer.hpp"

#include <sqlite3.h>

#include <algorithm>

#include "base/log.hpp"

namespace agw {

namespace {

constexpr int page_size = 4096;
/// Long, because a page that was written many times is copied into the file once; not longer, because after a crash it
/// is read as a whole.
constexpr int long_log = 64 * 1024 * 1024 / page_size;
constexpr int retry_after = long_log / 4;

}  // namespace

Writer::Writer(Loop& loop, std::unique_ptr<Connection> connection, std::string file, std::size_t group_limit)
    : loop_(loop),
      group_limit_(group_limit),
      connection_(std::move(connection)),
      checkpointer_(std::move(file)),
      queue_(std::make_shared<WriteQueue>(loop)),
      checkpoint_at_(long_log) {
  const auto committed = [](void* self, sqlite3*, const char*, int pages) {
    static_cast<Writer*>(self)->log_pages_ = pages;
    static_cast<Writer*>(self)->checkpointer_.committed();
    return SQLITE_OK;
  };
  sqlite3_wal_hook(connection_->handle(), committed, this);
  // Not with the first job: a gateway that cannot write is not to start.
  thread_.emplace("agw-writer", [this] { work(); });
}

Writer::~Writer() { close(WriteQueue::Clock::now()); }

void Writer::add(std::unique_ptr<Job> job, Database::Lane lane) {
  if (!connection_) return refuse(loop_, std::move(job));
  has_begun_ = true;
  queue_->add(std::move(job), lane);
}

Connection& Writer::start_connection() {
  if (has_begun_ || !connection_) throw std::logic_error("the writer's connection belongs to its thread");
  return *connection_;
}

void Writer::close(WriteQueue::Clock::time_point deadline) {
  if (!connection_) return;
  queue_->close(deadline);
  thread_.reset();
  for (auto& job : queue_->take_rest()) refuse(loop_, std::move(job));
  checkpointer_.close();
  if (WriteQueue::Clock::now() >= deadline) {
    sqlite3_db_config(connection_->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  connection_.reset();
}

void Writer::work() {
  while (true) {
    auto jobs = queue_->take(group_limit_);
    if (jobs.empty()) return;
    run_group(jobs);
    writes_ += jobs.size();
    answer(loop_, std::move(jobs));
    keep_log_short();
  }
}

void Writer::run_group(const Jobs& jobs) {
  // A savepoint costs about as much as a small write, and jobs seldom fail: only a group in which one did has them.
  if (jobs.size() > 1 && (run_together(jobs, Failing::undoes_group) || run_together(jobs, Failing::undoes_job))) return;
  for (const auto& job : jobs) run_alone(*job);
}

/// Whether the group was decided. If not, nothing of it is kept, and no job's outcome counts.
bool Writer::run_together(const Jobs& jobs, Failing failing) {
  bool done = false;
  try {
    connection_->prepare("BEGIN IMMEDIATE").run();
    done = failing == Failing::undoes_group
               ? run_bare(jobs)
               : std::ranges::all_of(jobs, [this](const auto& job) { return run_in_savepoint(*job); });
    if (done) commit();
  } catch (const DatabaseError&) {
    done = false;  // What it was shows when each job runs alone.
  }
  if (!done) roll_back();
  return done;
}

bool Writer::run_bare(std::span<const std::unique_ptr<Job>> jobs) {
  while (!jobs.empty()) {
    const auto done = run_first(jobs, *connection_);
    if (done == 0 || !connection_->in_transaction()) return false;
    jobs = jobs.subspan(done);
  }
  return true;
}

/// False where the whole transaction is gone: a full disk rolls it back, and the innocent with it.
bool Writer::run_in_savepoint(Job& job) {
  connection_->prepare("SAVEPOINT job").run();
  job.run(*connection_);
  if (!connection_->in_transaction()) return false;
  if (job.failed()) connection_->prepare("ROLLBACK TO job").run();
  connection_->prepare("RELEASE job").run();
  return true;
}

void Writer::run_alone(Job& job) {
  try {
    connection_->prepare("BEGIN IMMEDIATE").run();
    job.run(*connection_);
    if (!job.failed()) commit();
  } catch (const DatabaseError&) {
    job.fail(std::current_exception());
  }
  roll_back();
}

void Writer::commit() {
  connection_->prepare("COMMIT").run();
  ++commits_;
}

void Writer::roll_back() {
  if (!connection_->in_transaction()) return;
  try {
    connection_->prepare("ROLLBACK").run();
  } catch (const DatabaseError& error) {
    log::error("cannot roll back: {}", error.what());
  }
}

/// The log is only begun anew when all of it is in the file. The checkpointer, beside which the log grows, copies most
/// of it; the rest is copied here, where nothing is added meanwhile.
void Writer::keep_log_short() {
  if (log_pages_ < long_log) {
    checkpoint_at_ = long_log;
    is_mostly_copied_ = false;
  }
  if (log_pages_ < checkpoint_at_ || checkpointer_.is_copying()) return;
  if (!std::exchange(is_mostly_copied_, true)) return checkpointer_.hurry();
  is_mostly_copied_ = false;
  checkpoint_at_ = log_pages_ + retry_after;
  try {
    checkpoint(*connection_);
  } catch (const DatabaseError& error) {
    log::warn("cannot copy the log into the database: {}", error.what());
  }
}

}  // namespace agw
