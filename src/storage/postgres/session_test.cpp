#include "storage/postgres/session.hpp"

#include <sqlite3.h>

#include <gmock/gmock.h>

#include "base/async/assert.hpp"
#include "storage/connection.hpp"
#include "storage/postgres/testing.hpp"

namespace agw::postgres {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Server;

class SessionTest : public ::testing::Test {
protected:
  void SetUp() override {
    SKIP_WITHOUT_POSTGRES();
    url_ = Server::shared().create_database();
    connection_ = connect();
  }

  std::unique_ptr<Connection> connect(Session** session = nullptr) const {
    auto made = std::make_unique<Session>(read_address(url_), Session::Clock::now() + 1min, never_);
    if (session) *session = made.get();
    return std::make_unique<Connection>(std::move(made));
  }
  Connection& connection() { return *connection_; }

private:
  Session::Deadline never_ = Session::Clock::time_point::max();
  std::string url_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(SessionTest, ValuesRoundTrip) {
  connection().execute("CREATE TABLE t (i bigint, r double precision, s text, none text)");
  connection()
      .prepare("INSERT INTO t VALUES (:i, :r, :s, :none)")
      .bind(":i", -9'000'000'000'000'000'000)
      .bind(":r", 0.1)
      .bind(":s", "text with \xc3\xa4")
      .bind(":none", std::optional<std::string>())
      .run();
  auto row = connection().prepare("SELECT i, r, s, none FROM t WHERE i = :i AND :none IS NULL");
  row.bind(":i", -9'000'000'000'000'000'000).bind(":none", std::optional<int>());
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.integer(0), -9'000'000'000'000'000'000);
  EXPECT_EQ(row.real(1), 0.1);
  EXPECT_EQ(row.text(2), "text with \xc3\xa4");
  EXPECT_TRUE(row.is_null(3));
  EXPECT_EQ(row.optional_string(3), std::nullopt);
  EXPECT_FALSE(row.step());
}

TEST_F(SessionTest, AnyBytesAreText) {
  connection().execute("CREATE TABLE t (s text)");
  const auto bytes = "a\0b\xff\U0010ffff"s;
  connection().prepare("INSERT INTO t VALUES (:s)").bind(":s", bytes).run();
  auto row = connection().prepare("SELECT s, s FROM t WHERE s = :s");
  row.bind(":s", bytes);
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.text(0), bytes);
  EXPECT_EQ(row.text(1), bytes);
}

TEST_F(SessionTest, ReadsNumbersOfAnyTypeAndBytes) {
  auto row = connection().prepare("SELECT sum(x), 1 < 2, 1 > 2, 1.5, bytea '\\x00ff' FROM (VALUES (5), (7)) AS t (x)");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.integer(0), 12);
  EXPECT_TRUE(row.boolean(1));
  EXPECT_FALSE(row.boolean(2));
  EXPECT_EQ(row.real(3), 1.5);
  EXPECT_EQ(row.text(4), "\0\xff"s);
}

TEST_F(SessionTest, AStatementRunsAgainWithOtherTypes) {
  for (int i = 0; i < 2; ++i) {
    auto row = connection().prepare("SELECT :x");
    ASSERT_TRUE(row.bind(":x", 5).step());
    EXPECT_EQ(row.integer(0), 5);
    row.run();
    ASSERT_TRUE(row.bind(":x", "text").step());
    EXPECT_EQ(row.text(0), "text");
  }
}

TEST_F(SessionTest, OneTextCanBePreparedTwice) {
  auto outer = connection().prepare("SELECT x FROM generate_series(1, 3) AS t (x)");
  int sum = 0;
  while (outer.step()) {
    auto inner = connection().prepare("SELECT x FROM generate_series(1, 3) AS t (x)");
    while (inner.step()) sum += static_cast<int>(outer.integer(0) * inner.integer(0));
  }
  EXPECT_EQ(sum, 36);
}

TEST_F(SessionTest, CountsChangedRowsOfWritesOnly) {
  connection().execute("CREATE TABLE t (i bigint)");
  connection().prepare("INSERT INTO t VALUES (?), (?)").bind_next(1).bind_next(2).run();
  EXPECT_EQ(connection().changes(), 2);
  auto updated = connection().prepare("UPDATE t SET i = i + 1 WHERE i = 1 RETURNING i");
  ASSERT_TRUE(updated.step());
  EXPECT_EQ(updated.integer(0), 2);
  connection().prepare("SELECT i FROM t").run();
  EXPECT_EQ(connection().changes(), 1);
}

TEST_F(SessionTest, ErrorsHaveSqliteCodes) {
  connection().execute("CREATE TABLE t (i bigint PRIMARY KEY); INSERT INTO t VALUES (1)");
  try {
    connection().prepare("INSERT INTO t VALUES (:i)").bind(":i", 1).run();
    FAIL();
  } catch (const DatabaseError& error) {
    EXPECT_EQ(error.code(), SQLITE_CONSTRAINT_UNIQUE);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("PostgreSQL 23505"), HasSubstr("INSERT INTO t")));
  }
  EXPECT_THROW(connection().prepare("SELECT nonsense FROM t").step(), DatabaseError);
  EXPECT_THROW(connection().prepare("SELECT :i").bind(":j", 1), InternalError);
}

TEST_F(SessionTest, AFullDiskHasItsType) {
  EXPECT_THROW(connection().execute("DO $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END $$"),
               DiskFull);
}

TEST_F(SessionTest, CommittingAFailedTransactionThrowsItsFirstFailure) {
  connection().begin();
  EXPECT_THROW(connection().execute("SELECT 1/0"), DatabaseError);
  EXPECT_TRUE(connection().in_transaction());
  try {
    connection().execute("COMMIT");
    FAIL();
  } catch (const DatabaseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("division by zero"));
  }
  EXPECT_FALSE(connection().in_transaction());
}

TEST_F(SessionTest, NoticesThatTheServerEndedIt) {
  Session* session = nullptr;
  const auto other = connect(&session);
  auto row = connection().prepare("SELECT pg_terminate_backend(CAST(:pid AS integer))");
  ASSERT_TRUE(row.bind(":pid", session->backend_pid()).step());
  EXPECT_THROW(
      {
        other->execute("SELECT pg_sleep(0.1)");
        other->execute("SELECT 1");
      },
      ConnectionLost);
  EXPECT_THROW(other->prepare("SELECT 1").step(), ConnectionLost);
  EXPECT_FALSE(other->in_transaction());
}

}  // namespace
}  // namespace agw::postgres
