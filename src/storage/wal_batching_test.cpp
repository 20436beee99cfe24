#include "storage/wal_batching.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "storage/connection.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

/// Counts SQLite's `pwrite` calls, which write the log, and makes one of them fail.
class Disk {
public:
  explicit Disk(int failing = 0) {
    count = 0;
    failing_write = failing;
    vfs_->xSetSystemCall(vfs_, "pwrite", reinterpret_cast<sqlite3_syscall_ptr>(&counted));
    vfs_->xSetSystemCall(vfs_, "pwrite64", reinterpret_cast<sqlite3_syscall_ptr>(&counted));
  }
  ~Disk() { vfs_->xSetSystemCall(vfs_, nullptr, nullptr); }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  int writes() const { return count; }

private:
  static ssize_t counted(int file, const void* bytes, size_t size, off_t at) {
    if (++count == failing_write) {
      errno = EIO;
      return -1;
    }
    return ::pwrite(file, bytes, size, at);
  }

  inline static std::atomic<int> count;
  inline static std::atomic<int> failing_write;
  sqlite3_vfs* vfs_ = sqlite3_vfs_find(nullptr);
};

/// A log as SQLite opens it.
class OpenLog {
public:
  explicit OpenLog(const std::string& path) {
    auto* const vfs = sqlite3_vfs_find(wal_batching_vfs());
    memory_.resize(static_cast<std::size_t>(vfs->szOsFile) / sizeof(std::max_align_t) + 1);
    const int flags = SQLITE_OPEN_WAL | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    EXPECT_EQ(vfs->xOpen(vfs, path.c_str(), &file(), flags, nullptr), SQLITE_OK);
  }
  ~OpenLog() {
    if (file().pMethods) EXPECT_EQ(file().pMethods->xClose(&file()), SQLITE_OK);
  }
  OpenLog(const OpenLog&) = delete;
  OpenLog& operator=(const OpenLog&) = delete;

  int write(const std::string& bytes, sqlite3_int64 at) {
    return file().pMethods->xWrite(&file(), bytes.data(), static_cast<int>(bytes.size()), at);
  }
  int sync() { return file().pMethods->xSync(&file(), SQLITE_SYNC_NORMAL); }

private:
  sqlite3_file& file() { return *reinterpret_cast<sqlite3_file*>(memory_.data()); }

  std::vector<std::max_align_t> memory_;
};

class WalBatching : public ::testing::Test {
protected:
  WalBatching() {
    std::ofstream(file_).flush();
    connection_.emplace(file_.string(), Connection::Access::read_write);
    connection_->execute("PRAGMA journal_mode = WAL");
    connection_->execute("CREATE TABLE pages (number INTEGER PRIMARY KEY, bytes BLOB)");
  }

  /// Inserts `count` rows of about a page each, numbered from `first`.
  void insert(int count, int first = 1) {
    for (int number = first; number < first + count; ++number) {
      connection_->prepare("INSERT INTO pages VALUES (:number, zeroblob(4000))").bind(":number", number).run();
    }
  }

  static std::int64_t ask(Connection& connection, std::string_view sql) {
    auto row = connection.prepare(sql);
    return row.step() ? row.integer(0) : -1;
  }
  std::int64_t count(Connection& connection) { return ask(connection, "SELECT count(*) FROM pages"); }

  /// The number of rows seen by a connection without the VFS.
  std::int64_t count_elsewhere() {
    Connection reader(file_.string(), Connection::Access::read_only);
    return count(reader);
  }

  bool is_sound() {
    auto row = connection_->prepare("PRAGMA integrity_check");
    return row.step() && row.text(0) == "ok";
  }

  testing::ScratchDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "test.db";
  std::optional<Connection> connection_;
};

TEST_F(WalBatching, ACommitOfManyPagesIsWrittenInFewCallsAndSeenByOthers) {
  const Disk disk;
  connection_->execute("BEGIN");
  insert(100);
  connection_->execute("COMMIT");
  EXPECT_LE(disk.writes(), 15) << "200 without it: each page and what stands before it";
  EXPECT_EQ(count_elsewhere(), 100);
}

TEST_F(WalBatching, ATransactionLargerThanTheCacheReadsWhatItWrote) {
  connection_->execute("PRAGMA cache_size = 10");
  connection_->execute("BEGIN");
  insert(500);
  EXPECT_EQ(count(*connection_), 500);
  EXPECT_EQ(ask(*connection_, "SELECT sum(length(bytes)) FROM pages"), 500 * 4000);
  EXPECT_EQ(count_elsewhere(), 0);
  connection_->execute("UPDATE pages SET bytes = zeroblob(4001) WHERE number % 3 = 0");
  connection_->execute("COMMIT");
  EXPECT_EQ(count_elsewhere(), 500);
  EXPECT_TRUE(is_sound());
}

TEST_F(WalBatching, WhatWasRolledBackIsOverwritten) {
  connection_->execute("PRAGMA cache_size = 10");
  insert(10);
  connection_->execute("BEGIN");
  insert(300, 100);
  connection_->execute("SAVEPOINT more");
  insert(300, 1000);
  connection_->execute("ROLLBACK TO more");
  EXPECT_EQ(count(*connection_), 310);
  connection_->execute("ROLLBACK");
  insert(5, 50);
  EXPECT_EQ(count_elsewhere(), 15);
  EXPECT_TRUE(is_sound());
}

TEST_F(WalBatching, ARestartedLogContainsOnlyNewFrames) {
  insert(200);
  connection_->execute("PRAGMA wal_checkpoint(RESTART)");
  insert(3, 1000);
  EXPECT_EQ(count_elsewhere(), 203);
  connection_->execute("PRAGMA wal_checkpoint(TRUNCATE)");
  insert(2, 2000);
  EXPECT_EQ(count_elsewhere(), 205);
  EXPECT_TRUE(is_sound());
}

TEST_F(WalBatching, ALogThatGrowsHasRoomForTheNextCommits) {
  const auto size = [this] { return std::filesystem::file_size(file_.string() + "-wal"); };
  insert(30);
  int grown = 0;
  for (int i = 0; i < 100; ++i) {
    const auto before = size();
    insert(1, 1000 + i);
    grown += size() != before ? 1 : 0;
  }
  EXPECT_LE(grown, 3);
  EXPECT_EQ(count_elsewhere(), 130);
}

TEST_F(WalBatching, WritesThatFillTheBufferExactlyReachTheFile) {
  const auto database = directory_.path() / "filled";
  std::ofstream(database).flush();  // SQLite gives the log its mode
  const auto path = database.string() + "-wal";
  const std::string half(64 * 1024, 'a');
  {
    OpenLog log(path);
    EXPECT_EQ(log.write(half, 0), SQLITE_OK);
    EXPECT_EQ(log.write(half, std::ssize(half)), SQLITE_OK);
    EXPECT_EQ(log.sync(), SQLITE_OK);
  }
  std::ifstream stream(path);
  const std::string content(std::istreambuf_iterator<char>(stream), {});
  EXPECT_TRUE(content.starts_with(half + half));
}

TEST_F(WalBatching, WhatAKillLeavesIsReadUpToTheLastFrame) {
  insert(30);
  const auto copy = directory_.path() / "killed.db";
  for (const auto* end : {"", "-wal"}) std::filesystem::copy_file(file_.string() + end, copy.string() + end);
  Connection found(copy.string(), Connection::Access::read_write);
  EXPECT_EQ(count(found), 30);
  found.execute("INSERT INTO pages VALUES (1000, zeroblob(4000))");
  EXPECT_EQ(count(found), 31);
}

TEST_F(WalBatching, WhicheverWriteFailsATransactionIsWholeOrNotThere) {
  connection_->execute("PRAGMA cache_size = 10");
  std::int64_t before = 0;
  int refused = 0;
  for (int failing = 1;; ++failing) {
    const Disk disk(failing);
    try {
      connection_->execute("BEGIN");
      for (int i = 0; i < 40; ++i) {
        // A failed read must not leave a transaction that can be committed.
        insert(5, failing * 1000 + i * 5);
        EXPECT_EQ(count(*connection_), before + (i + 1) * 5);
      }
      connection_->execute("COMMIT");
      before += 200;
    } catch (const DatabaseError&) {
      ++refused;
      if (connection_->in_transaction()) connection_->execute("ROLLBACK");
    }
    ASSERT_EQ(count_elsewhere(), before) << "write " << failing;
    ASSERT_TRUE(is_sound()) << "write " << failing;
    if (disk.writes() < failing) break;
    ASSERT_LT(failing, 1000);
  }
  EXPECT_GT(refused, 5) << "only the room after the last frame is no loss";
}

}  // namespace
}  // namespace agw
