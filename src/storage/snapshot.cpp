#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <memory>

#include "base/async/assert.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/paced_writeback.hpp"
#include "storage/backup.hpp"
#include "storage/connection.hpp"

namespace agw {

namespace {

constexpr int pages_at_once = 256;  // 1 MiB
static_assert(pages_at_once > 0);   // a negative number would copy all at once

/// Ends the read transaction, also after an exception.
class ReadTransaction {
public:
  explicit ReadTransaction(Connection& connection) : connection_(connection) {
    connection_.execute("BEGIN");
    connection_.prepare("SELECT count(*) FROM sqlite_schema").step();
  }
  ~ReadTransaction() { sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr); }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

private:
  Connection& connection_;
};

std::uint64_t page_size(Connection& connection) {
  auto row = connection.prepare("PRAGMA page_size");
  row.step();
  return static_cast<std::uint64_t>(row.integer(0));
}

void sync(const Descriptor& file) {
  if (::fdatasync(file.get()) != 0) throw_errno("cannot write the copy of the database");
}

void copy(Connection& source, Connection& target, const Descriptor& file, const SnapshotProgress& progress) {
  // Without a transaction, each write to the source would start the copy again.
  AGW_ASSERT(source.in_transaction());
  const auto size = page_size(source);
  const auto finish = [](sqlite3_backup* backup) { sqlite3_backup_finish(backup); };
  const std::unique_ptr<sqlite3_backup, decltype(finish)> backup(
      sqlite3_backup_init(target.handle(), "main", source.handle(), "main"), finish);
  if (!backup) target.check(sqlite3_extended_errcode(target.handle()), "backup");
  PacedWriteback writeback(file);
  for (;;) {
    const int code = sqlite3_backup_step(backup.get(), pages_at_once);
    if (code != SQLITE_OK && code != SQLITE_DONE) target.check(code, "backup");
    const auto total = static_cast<std::uint64_t>(sqlite3_backup_pagecount(backup.get())) * size;
    const auto left = static_cast<std::uint64_t>(sqlite3_backup_remaining(backup.get())) * size;
    AGW_DEBUG_ASSERT(left <= total);
    progress(total - left, total);
    if (code == SQLITE_DONE) return;
    writeback.advance(static_cast<off64_t>(total - left));
  }
}

}  // namespace

void snapshot_database(const std::filesystem::path& from, const std::filesystem::path& to,
                       const SnapshotProgress& progress) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(progress);

  make_private_file(to);
  const Descriptor file(::open(to.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) throw_errno("cannot write " + to.string());
  Connection source(from.string(), Connection::Access::read_only);
  Connection target(to.string(), Connection::Access::read_write);
  // An unfinished copy is deleted, so it need not survive a crash.
  target.execute("PRAGMA synchronous = OFF");
  const ReadTransaction view(source);
  copy(source, target, file, progress);
  sync(file);
}

}  // namespace agw
