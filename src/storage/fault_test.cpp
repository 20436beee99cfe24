#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>

#include <gmock/gmock.h>

#include "storage/testing.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

/// Makes one of SQLite's calls that change a file fail once: the one at which `countdown` ends.
class FailingDisk {
public:
  FailingDisk(int call, int error) {
    countdown = call;
    error_number = error;
    set("write", &write_or_fail);
    set("pwrite", &pwrite_or_fail);
    set("pwrite64", &pwrite_or_fail);
    set("ftruncate", &truncate_or_fail);
  }
  ~FailingDisk() { vfs_->xSetSystemCall(vfs_, nullptr, nullptr); }
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;

  bool has_failed() const { return countdown <= 0; }

private:
  template <class Function>
  void set(const char* name, Function* function) {
    vfs_->xSetSystemCall(vfs_, name, reinterpret_cast<sqlite3_syscall_ptr>(function));
  }

  static bool fails() {
    if (--countdown != 0) return false;
    errno = error_number;
    return true;
  }
  static ssize_t write_or_fail(int file, const void* bytes, size_t size) {
    return fails() ? -1 : ::write(file, bytes, size);
  }
  static ssize_t pwrite_or_fail(int file, const void* bytes, size_t size, off_t at) {
    return fails() ? -1 : ::pwrite(file, bytes, size, at);
  }
  static int truncate_or_fail(int file, off_t size) { return fails() ? -1 : ::ftruncate(file, size); }

  inline static std::atomic<int> countdown;
  inline static std::atomic<int> error_number;
  sqlite3_vfs* vfs_ = sqlite3_vfs_find(nullptr);
};

struct Outcome {
  std::vector<std::int64_t> acknowledged;
  int full = 0;
  int failed = 0;
};

Task<> write_row(Database& database, std::int64_t number, Outcome& outcome) {
  try {
    co_await database.write(
        [=](Connection& connection) { testing::insert(connection, number, std::string(200'000, 'x')); });
    outcome.acknowledged.push_back(number);
  } catch (const DiskFull&) {
    ++outcome.full;
  } catch (const DatabaseError&) {
    ++outcome.failed;
  }
}

/// Writes two groups, during which the `call`th change of a file fails with `error`. Returns whether the call happened.
bool write_while_failing(int call, int error) {
  bool has_failed = false;
  testing::run([&](Loop& loop) -> Task<> {
    testing::TestDatabase database(loop);
    Outcome outcome;
    {
      FailingDisk disk(call, error);
      for (std::int64_t first : {1, 11}) {
        TaskGroup group(loop);
        for (std::int64_t number = first; number < first + 3; ++number) {
          group.spawn(write_row(*database, number, outcome));
        }
        co_await group.join();
      }
      has_failed = disk.has_failed();
    }
    std::ranges::sort(outcome.acknowledged);
    EXPECT_EQ(testing::numbers_on_disk(database.file()), outcome.acknowledged) << "call " << call;
    EXPECT_EQ(error == ENOSPC ? outcome.failed : outcome.full, 0) << "call " << call;
    EXPECT_LE(outcome.full + outcome.failed, 1) << "one call failed, call " << call;
    co_await database->write([](Connection& connection) { testing::insert(connection, 99); });
    const auto integrity = co_await database->read([](Connection& connection) {
      auto row = connection.prepare("PRAGMA integrity_check");
      row.step();
      return row.string(0);
    });
    EXPECT_EQ(integrity, "ok") << "call " << call;
  });
  return has_failed;
}

class DiskFault : public ::testing::TestWithParam<int> {};

TEST_P(DiskFault, WhateverCallFailsNothingAcknowledgedIsLost) {
  int call = 1;
  while (write_while_failing(call, GetParam())) ++call;
  EXPECT_GT(call, 8) << "the calls that write two groups";
}

TEST(DiskFull, IsWhatKeepsTheIndexOfTheLogFromGrowing) {
  const testing::ScratchDirectory directory;
  const auto file = (directory.path() / "test.db").string();
  std::ofstream(file).flush();
  const auto open = [&] { return std::make_unique<Connection>(file, Connection::Access::read_write); };
  open()->execute("PRAGMA journal_mode = WAL; CREATE TABLE things (name)");
  {
    // The first call creates the index, the second enlarges it. SQLite discards the system's error code for the latter.
    const FailingDisk disk(2, 0);
    try {
      open();
      ADD_FAILURE() << "the index grew";
    } catch (const DiskFull& error) {
      EXPECT_EQ(error.code(), SQLITE_IOERR_SHMSIZE);
    }
  }
  EXPECT_NO_THROW(open());
}

INSTANTIATE_TEST_SUITE_P(Storage, DiskFault, ::testing::Values(ENOSPC, EIO),
                         [](const auto& info) { return info.param == ENOSPC ? "DiskFull" : "InputOutputError"; });

}  // namespace
}  // namespace agw
