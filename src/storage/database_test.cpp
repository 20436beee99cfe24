#include "storage/database.hpp"

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>

#include "base/async/assert.hpp"
#include "base/async/task_group.hpp"
#include "storage/active_reads.hpp"
#include "storage/checkpointer.hpp"
#include "storage/testing.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::Gate;
using testing::insert;
using testing::numbers;
using testing::numbers_on_disk;
using testing::TestDatabase;
using testing::until;

using Outcomes = std::vector<std::string>;

/// Writes row `number` and records the outcome: `done 1`, `failed 1`, `full 1`.
Task<> write_and_record(Database& database, std::int64_t number, Outcomes& outcomes, Database::Lane lane,
                        std::function<void(Connection&)> afterwards) {
  try {
    co_await database.write(
        [=](Connection& connection) {
          insert(connection, number);
          if (afterwards) afterwards(connection);
        },
        lane);
    outcomes.push_back("done " + std::to_string(number));
  } catch (const DiskFull&) {
    outcomes.push_back("full " + std::to_string(number));
  } catch (const std::runtime_error&) {
    outcomes.push_back("failed " + std::to_string(number));
  }
}

Task<> write_and_record(Database& database, std::int64_t number, Outcomes& outcomes) {
  return write_and_record(database, number, outcomes, Database::Lane::request, nullptr);
}

TEST(Database, ReturnsTheResultOfTheClosure) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    const auto id = co_await database->write([](Connection& connection) {
      insert(connection, 7, "seven");
      return connection.last_insert_rowid();
    });
    EXPECT_EQ(id, 7);
    const auto text = co_await database->read([](Connection& connection) {
      auto row = connection.prepare("SELECT text FROM rows WHERE number = 7");
      return row.step() ? row.optional_string(0) : std::nullopt;
    });
    EXPECT_EQ(text, "seven");
  });
}

TEST(Database, AnAwaitedWriteIsInTheFileAndSeenByReads) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    for (std::int64_t number = 1; number <= 20; ++number) {
      co_await database->write([=](Connection& connection) { insert(connection, number); });
      const auto seen = co_await database->read([](Connection& connection) { return numbers(connection); });
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(number));
      EXPECT_EQ(numbers_on_disk(database.file()), seen);
    }
  });
}

TEST(Database, AReadSeesOneState) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    TaskGroup group(loop);
    std::atomic<bool> counted = false;
    std::promise<void> written;
    std::vector<std::size_t> counts;
    group.spawn([](Database& d, std::atomic<bool>& c, std::promise<void>& w, std::vector<std::size_t>& out) -> Task<> {
      out = co_await d.read([&](Connection& connection) {
        std::vector<std::size_t> seen{numbers(connection).size()};
        c = true;
        w.get_future().wait();
        seen.push_back(numbers(connection).size());
        return seen;
      });
    }(*database, counted, written, counts));
    co_await until([&] { return counted.load(); });
    co_await database->write([](Connection& connection) { insert(connection, 1); });
    written.set_value();
    co_await group.join();
    EXPECT_THAT(counts, ElementsAre(0, 0));
  });
}

TEST(Database, AReadCannotWrite) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    bool refused = false;
    try {
      co_await database->read([](Connection& connection) { insert(connection, 1); });
    } catch (const DatabaseError&) {
      refused = true;
    }
    EXPECT_TRUE(refused);
    EXPECT_EQ(co_await database->read([](Connection& connection) { return numbers(connection).size(); }), 0u);
  });
}

TEST(Database, WaitingWritesShareOneCommitAndAreAnsweredInOrder) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    TaskGroup group(loop);
    Gate gate;
    co_await gate.shut(*database, group);
    Outcomes outcomes;
    for (std::int64_t number = 1; number <= 5; ++number) group.spawn(write_and_record(*database, number, outcomes));
    co_await until([&] { return database->statistics().queued == 5; });
    const auto before = database->statistics().commits;
    gate.open();
    co_await group.join();
    EXPECT_THAT(outcomes, ElementsAre("done 1", "done 2", "done 3", "done 4", "done 5"));
    EXPECT_EQ(database->statistics().commits, before + 2) << "that of the gate and that of the group";
  });
}

/// How one item of a group fails.
struct Fault {
  const char* name;
  std::function<void(Connection&)> strike;
  const char* outcome;
};

class GroupFault : public ::testing::TestWithParam<Fault> {};

TEST_P(GroupFault, OnlyTheFaultyOneFailsWhicheverItIs) {
  constexpr std::int64_t size = 6;
  for (std::int64_t guilty = 1; guilty <= size; ++guilty) {
    testing::run([&](Loop& loop) -> Task<> {
      TestDatabase database(loop);
      TaskGroup group(loop);
      Gate gate;
      co_await gate.shut(*database, group);
      Outcomes outcomes;
      Outcomes expected;
      std::vector<std::int64_t> kept;
      for (std::int64_t number = 1; number <= size; ++number) {
        const bool fails = number == guilty;
        group.spawn(write_and_record(*database, number, outcomes, Database::Lane::request,
                                     fails ? GetParam().strike : std::function<void(Connection&)>()));
        expected.push_back((fails ? GetParam().outcome : "done ") + std::to_string(number));
        if (!fails) kept.push_back(number);
      }
      co_await until([&] { return database->statistics().queued == size; });
      gate.open();
      co_await group.join();
      EXPECT_EQ(outcomes, expected);
      EXPECT_EQ(numbers_on_disk(database.file()), kept);
      co_await database->write([](Connection& connection) { insert(connection, 99); });
    });
  }
}

void fill_the_disk(Connection& connection) {
  auto pages = connection.prepare("PRAGMA page_count");
  pages.step();
  connection.execute("PRAGMA max_page_count = " + std::to_string(pages.integer(0)));
  try {
    insert(connection, 1000, std::string(1'000'000, 'x'));
  } catch (...) {
    connection.execute("PRAGMA max_page_count = 1000000");
    throw;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Database, GroupFault,
    ::testing::Values(Fault{"Throws", [](Connection&) { throw std::runtime_error("no"); }, "failed "},
                      Fault{"BreaksAConstraint", [](Connection& connection) { insert(connection, 1); }, "failed "},
                      Fault{"FillsTheDisk", fill_the_disk, "full "},
                      Fault{"LosesTheGroup", [](Connection& connection) { connection.execute("ROLLBACK"); }, "failed "},
                      Fault{"HidesTheLoss",
                            [](Connection& connection) {
                              try {
                                fill_the_disk(connection);
                              } catch (const DiskFull&) {
                              }
                            },
                            "failed "}),
    [](const auto& info) { return info.param.name; });

TEST(Database, RequestsPrecedeBackgroundWork) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    TaskGroup group(loop);
    Gate gate;
    co_await gate.shut(*database, group);
    Outcomes outcomes;
    for (std::int64_t number = 1; number <= 3; ++number) {
      group.spawn(write_and_record(*database, number, outcomes, Database::Lane::background, nullptr));
    }
    for (std::int64_t number = 4; number <= 5; ++number) group.spawn(write_and_record(*database, number, outcomes));
    co_await until([&] { return database->statistics().queued == 5; });
    gate.open();
    co_await group.join();
    EXPECT_THAT(outcomes, ElementsAre("done 4", "done 5", "done 1", "done 2", "done 3"));
  });
}

TEST(Database, BackgroundWorkIsNotPostponedForever) {
  testing::run([](Loop& loop) -> Task<> {
    constexpr std::size_t group_limit = 1;
    TestDatabase database(loop, group_limit);
    TaskGroup group(loop);
    Outcomes outcomes;
    std::int64_t next = 2;
    const auto keep_busy = [](Database& d, Outcomes& o, std::int64_t& number) -> Task<> {
      while (o.empty()) co_await d.write([n = ++number](Connection& connection) { insert(connection, n); });
    };
    for (int i = 0; i < 200; ++i) group.spawn(keep_busy(*database, outcomes, next));
    co_await until([&] { return next > 200; });
    group.spawn(write_and_record(*database, 1, outcomes, Database::Lane::background, nullptr));
    co_await group.join();
    EXPECT_THAT(outcomes, ElementsAre("done 1"));
  });
}

TEST(Database, BackgroundWorkRestsForASecondHoweverLongTheLastOneTook) {
  testing::run([](Loop& loop) -> Task<> {
    using namespace std::chrono_literals;
    TestDatabase database(loop);
    TaskGroup group(loop);
    Outcomes outcomes;
    std::atomic<bool> has_begun = false;
    const auto be_slow = [&](Connection&) {
      has_begun = true;
      std::this_thread::sleep_for(3s);
    };
    group.spawn(write_and_record(*database, 1, outcomes, Database::Lane::background, be_slow));
    co_await until([&] { return has_begun.load(); });
    const auto began = std::chrono::steady_clock::now();
    group.spawn(write_and_record(*database, 2, outcomes, Database::Lane::background, nullptr));
    group.spawn(write_and_record(*database, 3, outcomes));
    co_await group.join();
    EXPECT_THAT(outcomes, ElementsAre("done 1", "done 3", "done 2"));
    EXPECT_LT(std::chrono::steady_clock::now() - began, 12s) << "not four times as long as it took";
  });
}

TEST(Database, ACancelledCallerStillGetsItsResult) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    TaskGroup group(loop);
    TaskGroup cancelled(loop);
    Gate gate;
    co_await gate.shut(*database, group);
    Outcomes outcomes;
    cancelled.spawn(write_and_record(*database, 1, outcomes));
    co_await until([&] { return database->statistics().queued == 1; });
    cancelled.cancel();
    gate.open();
    co_await cancelled.join();
    co_await group.join();
    EXPECT_THAT(outcomes, ElementsAre("done 1"));
    EXPECT_THAT(numbers_on_disk(database.file()), ElementsAre(1));
  });
}

TEST(Database, CloseLetsQueuedWorkFinishAndEmptiesTheLog) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    TaskGroup group(loop);
    Gate gate;
    co_await gate.shut(*database, group);
    Outcomes outcomes;
    group.spawn(write_and_record(*database, 1, outcomes));
    group.spawn(write_and_record(*database, 2, outcomes, Database::Lane::background, nullptr));
    co_await until([&] { return database->statistics().queued == 2; });
    gate.open();
    database->close();
    co_await group.join();
    EXPECT_THAT(outcomes, ElementsAre("done 1", "done 2"));
    EXPECT_FALSE(std::filesystem::exists(database.file().string() + "-wal"));
    EXPECT_THAT(numbers_on_disk(database.file()), ElementsAre(1, 2));
  });
}

TEST(Database, RefusesWorkAfterItWasClosed) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    database->close();
    Outcomes outcomes;
    co_await write_and_record(*database, 1, outcomes);
    EXPECT_THAT(outcomes, ElementsAre("failed 1"));
    bool refused = false;
    try {
      co_await database->read([](Connection&) {});
    } catch (const DatabaseError&) {
      refused = true;
    }
    EXPECT_TRUE(refused);
    EXPECT_THROW(database->start_connection(), InternalError);
  });
}

TEST(Database, TheStartWorksOnTheWritersConnection) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    insert(database->start_connection(), 1);
    co_await database->write([](Connection& connection) { insert(connection, 2); });
    EXPECT_THROW(database->start_connection(), InternalError);
    EXPECT_THAT(numbers_on_disk(database.file()), ElementsAre(1, 2));
  });
}

TEST(Database, WhatIsCommittedReachesTheFileSoon) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    co_await database->write([](Connection& connection) { insert(connection, 1, std::string(100'000, 'x')); });
    co_await until([&] { return std::filesystem::file_size(database.file()) > 100'000; });
  });
}

TEST(Database, ALongLogIsRestartedDuringWrites) {
  constexpr std::uintmax_t mebibyte = 1024 * 1024;
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    for (int i = 0; i < 300; ++i) {
      co_await database->write([](Connection& connection) {
        connection.prepare("INSERT INTO rows (text) VALUES (CAST(zeroblob(1048576) AS TEXT))").run();
      });
    }
    EXPECT_LT(std::filesystem::file_size(database.file().string() + "-wal"), 200 * mebibyte);
  });
}

/// Two alternating readers, so that a read is always active. A read takes once or twice `duration`.
class EndlessReading {
public:
  EndlessReading(TestDatabase& database, std::chrono::milliseconds duration)
      : database_(database), duration_(duration) {}

  /// One of the two readers.
  Task<> read_on() {
    while (!over_) {
      co_await database_->read([this](Connection& connection) {
        numbers(connection);
        std::this_thread::sleep_for(duration_);
        const auto mine = ++begun_;
        begun_.notify_all();
        while (begun_ == mine && !over_) begun_.wait(mine);
      });
    }
  }
  void stop() {
    over_ = true;
    ++begun_;
    begun_.notify_all();
  }

private:
  TestDatabase& database_;
  const std::chrono::milliseconds duration_;
  std::atomic<int> begun_ = 0;
  std::atomic<bool> over_ = false;
};

class ConstantReads : public ::testing::TestWithParam<std::chrono::milliseconds> {};

TEST_P(ConstantReads, DoNotPreventTheRestartOfALongLog) {
  constexpr std::uintmax_t mebibyte = 1024 * 1024;
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    EndlessReading reading(database, GetParam());
    TaskGroup readers(loop);
    readers.spawn(reading.read_on());
    readers.spawn(reading.read_on());
    for (int i = 0; i < 400; ++i) {
      co_await database->write([](Connection& connection) {
        connection.prepare("INSERT INTO rows (text) VALUES (CAST(zeroblob(1048576) AS TEXT))").run();
      });
    }
    EXPECT_LT(std::filesystem::file_size(database.file().string() + "-wal"), 380 * mebibyte)
        << "of 400 that were written";
    reading.stop();
    co_await readers.join();
  });
}

// The second is longer than the writer waits at once.
INSTANTIATE_TEST_SUITE_P(Database, ConstantReads, ::testing::Values(0ms, 40ms));

TEST(Database, ReadsOfOtherProgramsDoNotDelayTheRestartOfALog) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    const auto file = database.file().string();
    Connection other(file, Connection::Access::read_only);
    other.execute("BEGIN");
    other.prepare("SELECT count(*) FROM rows").step();
    co_await database->write([](Connection& connection) { insert(connection, 1); });

    Connection connection(file, Connection::Access::read_write);
    const ActiveReads reads;
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) restart_log(connection, reads);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 1500ms) << "100 waits of 30 ms would take 3 s";
    other.execute("ROLLBACK");
  });
}

TEST(ActiveReads, ThoseThatBeganBeforeAreDistinguishedFromLaterOnes) {
  ActiveReads reads;
  auto first = std::make_optional<ActiveReads::Read>(reads);
  const auto count = reads.begun();
  const ActiveReads::Read later(reads);
  EXPECT_TRUE(reads.any_among(count));
  first.reset();
  EXPECT_FALSE(reads.any_among(count));
  EXPECT_TRUE(reads.any_among(reads.begun()));
}

TEST(Database, ItsFilesArePrivate) {
  testing::run([](Loop& loop) -> Task<> {
    const auto mask = umask(0);
    TestDatabase database(loop);
    umask(mask);
    co_await database->write([](Connection& connection) { insert(connection, 1); });
    for (const char* suffix : {"", "-wal", "-shm"}) {
      const auto permissions = std::filesystem::status(database.file().string() + suffix).permissions();
      EXPECT_EQ(permissions, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write) << suffix;
    }
  });
}

}  // namespace
}  // namespace agw
