#include "storage/postgres/engine.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <thread>

#include <gmock/gmock.h>

#include "base/async/task_group.hpp"
#include "storage/database.hpp"
#include "storage/postgres/session.hpp"
#include "storage/postgres/testing.hpp"
#include "storage/testing.hpp"
#include "testing/run.hpp"

namespace agw::postgres {
namespace {

using namespace std::chrono_literals;
using agw::testing::Gate;
using agw::testing::insert;
using agw::testing::numbers;
using agw::testing::run;
using agw::testing::until;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Server;

class PostgresTest : public ::testing::Test {
protected:
  void SetUp() override {
    SKIP_WITHOUT_POSTGRES();
    url_ = Server::shared().create_database();
  }

  std::unique_ptr<Database> open(Loop& loop, const std::string& url) const {
    return std::make_unique<Database>(loop, open_engine(loop, {.url = url, .migrations = testing::rows_table()}));
  }
  std::unique_ptr<Database> open(Loop& loop) const { return open(loop, url_); }
  /// Another program's connection.
  std::unique_ptr<Connection> connect() const {
    return std::make_unique<Connection>(
        std::make_unique<Session>(read_address(url_), Session::Clock::now() + 1min, never_));
  }

  std::string url_;

private:
  Session::Deadline never_ = Session::Clock::time_point::max();
};

Task<std::vector<std::int64_t>> read_numbers(Database& database) {
  co_return co_await database.read([](Connection& connection) { return numbers(connection); });
}

TEST_F(PostgresTest, AnAwaitedWriteIsSeenByReads) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    for (std::int64_t number = 1; number <= 20; ++number) {
      const auto returned = co_await database->write([=](Connection& connection) {
        insert(connection, number);
        return number * 2;
      });
      EXPECT_EQ(returned, number * 2);
      EXPECT_EQ((co_await read_numbers(*database)).size(), static_cast<std::size_t>(number));
    }
    EXPECT_EQ(database->statistics().writes, 20);
  });
}

Task<> write_row(Database& database, std::int64_t number, std::vector<std::int64_t>& done) {
  co_await database.write([=](Connection& connection) { insert(connection, number); });
  done.push_back(number);
}

Task<> write_in_vain(Database& database, std::int64_t number, std::vector<std::string>& failures) {
  try {
    co_await database.write([=](Connection& connection) {
      insert(connection, number);
      throw std::runtime_error("thrown by the closure");
    });
  } catch (const std::runtime_error& error) {
    failures.emplace_back(error.what());
  }
}

TEST_F(PostgresTest, AGroupIsOneCommitAndCompletesInOrder) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    TaskGroup group(loop);
    Gate gate;
    co_await gate.shut(*database, group);
    std::vector<std::int64_t> done;
    for (const std::int64_t number : {3, 1, 2}) group.spawn(write_row(*database, number, done));
    co_await until([&] { return database->statistics().queued == 3; });
    gate.open();
    co_await group.join();
    EXPECT_THAT(done, ElementsAre(3, 1, 2));
    EXPECT_EQ(database->statistics().commits, 2);
  });
}

TEST_F(PostgresTest, AFailedClosureUndoesOnlyItsOwnChanges) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    TaskGroup group(loop);
    Gate gate;
    co_await gate.shut(*database, group);
    std::vector<std::int64_t> done;
    std::vector<std::string> failures;
    group.spawn(write_row(*database, 1, done));
    group.spawn(write_in_vain(*database, 2, failures));
    group.spawn(write_row(*database, 3, done));
    co_await until([&] { return database->statistics().queued == 3; });
    gate.open();
    co_await group.join();
    EXPECT_THAT(failures, ElementsAre("thrown by the closure"));
    EXPECT_THAT(co_await read_numbers(*database), ElementsAre(1, 3));
  });
}

TEST_F(PostgresTest, AnErrorThatAClosureSwallowsFailsIt) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    std::string failure;
    try {
      co_await database->write([](Connection& connection) {
        insert(connection, 1);
        try {
          insert(connection, 1);
        } catch (const DatabaseError&) {
        }
      });
    } catch (const DatabaseError& error) {
      failure = error.what();
    }
    EXPECT_THAT(failure, ::testing::HasSubstr("duplicate key"));
    EXPECT_THAT(co_await read_numbers(*database), IsEmpty());
  });
}

/// Computes a sum while another program changes its rows in the first `times` runs.
auto contested_write(std::shared_ptr<Connection> other, std::shared_ptr<int> runs, int times) {
  return [=](Connection& connection) {
    auto row = connection.prepare("SELECT count(*) FROM rows");
    row.step();
    const auto count = row.integer(0);
    if (++*runs <= times) {
      other->begin();
      auto seen = other->prepare("SELECT count(*) FROM rows");
      seen.step();
      insert(*other, 100 + *runs);
      other->execute("COMMIT");
    }
    insert(connection, 1000 + count);
  };
}

TEST_F(PostgresTest, AWriteThatConflictsRunsAgain) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    const auto runs = std::make_shared<int>(0);
    co_await database->write(contested_write(connect(), runs, 2));
    EXPECT_EQ(*runs, 3);
    EXPECT_THAT(co_await read_numbers(*database), ElementsAre(101, 102, 1002));
  });
}

TEST_F(PostgresTest, AfterTenConflictsNothingIsDone) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    const auto runs = std::make_shared<int>(0);
    std::string answer;
    try {
      co_await database->write(contested_write(connect(), runs, 1000));
    } catch (const DatabaseUnavailable& error) {
      answer = error.answer();
    }
    EXPECT_EQ(answer, "busy, try again");
    EXPECT_EQ(*runs, 10);
    EXPECT_EQ((co_await read_numbers(*database)).size(), 10);
  });
}

TEST_F(PostgresTest, AReadSeesOneState) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    const auto other = std::shared_ptr(connect());
    const auto counts = co_await database->read([other](Connection& connection) {
      const auto before = numbers(connection).size();
      insert(*other, 1);
      return std::pair(before, numbers(connection).size());
    });
    EXPECT_EQ(counts, std::pair(std::size_t{0}, std::size_t{0}));
  });
}

TEST_F(PostgresTest, AReadCannotWrite) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    bool refused = false;
    try {
      co_await database->read([](Connection& connection) { insert(connection, 1); });
    } catch (const DatabaseError&) {
      refused = true;
    }
    EXPECT_TRUE(refused);
  });
}

std::vector<std::size_t>& sizes_of_inserts() {
  static std::vector<std::size_t> sizes;
  return sizes;
}

void insert_all_rows(Connection& connection, std::span<const std::int64_t* const> rows) {
  sizes_of_inserts().push_back(rows.size());
  for (const auto* row : rows) insert(connection, *row);
}

TEST_F(PostgresTest, RowsThatWaitTogetherAreInsertedTogether) {
  sizes_of_inserts().clear();
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    TaskGroup group(loop);
    Gate gate;
    co_await gate.shut(*database, group);
    for (const std::int64_t number : {1, 2, 3}) {
      group.spawn(database->insert<insert_all_rows>(std::make_shared<const std::int64_t>(number)));
    }
    co_await until([&] { return database->statistics().queued == 3; });
    gate.open();
    co_await group.join();
    EXPECT_THAT(sizes_of_inserts(), ElementsAre(3));
    EXPECT_THAT(co_await read_numbers(*database), ElementsAre(1, 2, 3));
  });
}

/// Retries while the server is unreachable for longer than a write waits. If a failed attempt had written the row, the
/// next one would fail as a duplicate.
Task<> write_patiently(Database& database, std::int64_t number) {
  for (bool done = false; !done;) {
    try {
      co_await database.write([=](Connection& connection) { insert(connection, number); });
      done = true;
    } catch (const DatabaseUnavailable&) {
    }
  }
}

Task<> write_until(Database& database, const std::atomic<bool>& stop, std::int64_t number,
                   std::vector<std::int64_t>& acknowledged) {
  for (; !stop; number += 100) {
    co_await write_patiently(database, number);
    acknowledged.push_back(number);
  }
}

Task<> read_patiently(Database& database) {
  try {
    co_await read_numbers(database);
  } catch (const DatabaseUnavailable&) {
  }
}

/// Eight writers and a reader continue while `disturb` runs on another thread. Every acknowledged row must exist
/// exactly once: a second write would fail with a duplicate key.
void write_while(const std::function<std::unique_ptr<Database>(Loop&)>& open, const std::function<void()>& disturb) {
  run(
      [&](Loop& loop) -> Task<> {
        const auto database = open(loop);
        TaskGroup group(loop);
        std::atomic<bool> stop = false;
        std::vector<std::int64_t> acknowledged;
        for (std::int64_t writer = 0; writer < 8; ++writer) {
          group.spawn(write_until(*database, stop, writer, acknowledged));
        }
        std::atomic<bool> over = false;
        std::jthread disturber([&](const std::stop_token& end) {
          disturb();
          over = true;
          // A server started by this thread would end with it, so the thread stays alive.
          while (!end.stop_requested()) std::this_thread::sleep_for(20ms);
        });
        while (!over) co_await read_patiently(*database);
        const auto enough = acknowledged.size() + 20;
        co_await until([&] { return acknowledged.size() >= enough; });
        stop = true;
        co_await group.join();
        std::ranges::sort(acknowledged);
        EXPECT_EQ(co_await read_numbers(*database), acknowledged);
      },
      5min);
}

TEST_F(PostgresTest, NoWriteIsLostOrDoubledWhenTheServerEnds) {
  Server server;
  url_ = server.create_database();
  const auto begin_anew = [&](void (Server::*end)()) {
    std::this_thread::sleep_for(100ms);
    (server.*end)();
    server.start();
  };
  write_while([this](Loop& loop) { return open(loop); },
              [&] {
                for (int i = 0; i < 2; ++i) {
                  begin_anew(&Server::stop);
                  begin_anew(&Server::kill);
                }
              });
}

}  // namespace
}  // namespace agw::postgres
