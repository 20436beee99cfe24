#include "storage/postgres/owner.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "storage/database.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/testing.hpp"
#include "storage/testing.hpp"
#include "testing/run.hpp"

namespace agw::postgres {
namespace {

using namespace std::chrono_literals;
using agw::testing::insert;
using agw::testing::numbers;
using agw::testing::run;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Server;

class OwnerTest : public ::testing::Test {
protected:
  void SetUp() override {
    SKIP_WITHOUT_POSTGRES();
    url_ = Server::shared().create_database();
  }

  std::unique_ptr<Database> open(Loop& loop) const {
    return std::make_unique<Database>(loop, open_engine(loop, {.url = url_, .migrations = testing::rows_table()}));
  }

  /// Runs a statement as another program.
  void execute(const std::string& sql) const {
    Session(read_address(url_), Session::Clock::now() + 1min, never_).execute(sql);
  }

  /// Ends the session of the writer, which has the lock.
  void end_session() const {
    execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE locktype = 'advisory' AND datname = current_database()");
  }

private:
  std::string url_;
  Session::Deadline never_ = Session::Clock::time_point::max();
};

Task<> write(Database& database, std::int64_t number) {
  co_await database.write([=](Connection& connection) { insert(connection, number); });
}

TEST(Releases, AreNearIfOneMinorVersionApart) {
  EXPECT_TRUE(are_near("0.4.1", "0.4.9"));
  EXPECT_TRUE(are_near("0.4.1", "0.5.0"));
  EXPECT_TRUE(are_near("0.5.0", "0.4.1"));
  EXPECT_TRUE(are_near("0.5.0", ""));
  EXPECT_TRUE(are_near("0.5.0", "of somebody"));
  EXPECT_FALSE(are_near("0.5.0", "0.7.0"));
  EXPECT_FALSE(are_near("0.10.0", "0.1.0"));
  EXPECT_FALSE(are_near("1.0.0", "0.9.0"));
}

TEST_F(OwnerTest, ASecondGatewayIsRefused) {
  run([this](Loop& loop) -> Task<> {
    const auto first = open(loop);
    try {
      open(loop);
      ADD_FAILURE();
    } catch (const StartError& error) {
      EXPECT_EQ(error.status(), ExitStatus::already_running);
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("is in use by another gateway (connected from the host of the server since 20"),
                        HasSubstr("several gateways cannot share a database unless each has a "
                                  "name (cluster.node). Stop that one, or give this one a database of its own.")));
    }
    co_await write(*first, 1);
  });
}

TEST_F(OwnerTest, AnotherGatewayMayFollow) {
  for (std::int64_t number = 1; number <= 2; ++number) {
    run([this, number](Loop& loop) -> Task<> {
      const auto database = open(loop);
      co_await write(*database, number);
    });
  }
}

TEST_F(OwnerTest, AGatewayThatLostItsSessionGoesOn) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    for (std::int64_t number = 1; number <= 3; ++number) {
      end_session();
      co_await write(*database, number);
    }
    EXPECT_THAT(co_await database->read([](Connection& connection) { return numbers(connection); }),
                ElementsAre(1, 2, 3));
  });
}

TEST_F(OwnerTest, AGatewayThatLostTheDatabaseToAnotherWritesNothing) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop);
    end_session();
    {
      const auto other = open(loop);
      co_await write(*other, 1);
    }
    for (const std::int64_t number : {2, 3}) {
      std::string answer;
      try {
        co_await write(*database, number);
      } catch (const DatabaseTaken& error) {
        answer = error.answer();
      }
      EXPECT_EQ(answer, "another gateway has used the database: restart this one");
    }
    EXPECT_THAT(co_await database->read([](Connection& connection) { return numbers(connection); }), ElementsAre(1));
  });
}

}  // namespace
}  // namespace agw::postgres
