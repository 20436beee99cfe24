#include "storage/connection.hpp"

#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "base/async/assert.hpp"
#include "storage/testing.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

class ConnectionTest : public ::testing::Test {
protected:
  ConnectionTest() {
    std::ofstream(file_).flush();
    connection_.emplace(file_.string(), Connection::Access::read_write);
    connection_->execute("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE, value)");
  }

  void insert(std::string_view name) {
    connection_->prepare("INSERT INTO things (name) VALUES (:name)").bind(":name", name).run();
  }

  testing::ScratchDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "test.db";
  std::optional<Connection> connection_;
};

TEST_F(ConnectionTest, ValuesRoundTrip) {
  const Timestamp time{std::chrono::milliseconds{1'767'323'045'678}};
  const std::string text{"a\0b \xc3\xa4", 6};
  auto row = connection_->prepare("SELECT :integer, :boolean, :real, :text, :empty, :null, :time, :some, :none");
  row.bind(":integer", std::numeric_limits<std::int64_t>::min()).bind(":boolean", true).bind(":real", 0.1);
  row.bind(":text", text).bind(":empty", std::string_view{}).bind(":null", std::nullopt).bind(":time", time);
  row.bind(":some", std::optional<std::string>("some")).bind(":none", std::optional<int>());

  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.integer(0), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(row.boolean(1));
  EXPECT_EQ(row.real(2), 0.1);
  EXPECT_EQ(row.text(3), text);
  EXPECT_FALSE(row.is_null(4));
  EXPECT_EQ(row.string(4), "");
  EXPECT_TRUE(row.is_null(5));
  EXPECT_EQ(row.time(6), time);
  EXPECT_EQ(row.optional_time(6), time);
  EXPECT_EQ(row.optional_string(7), "some");
  EXPECT_EQ(row.optional_string(8), std::nullopt);
  EXPECT_EQ(row.optional_time(8), std::nullopt);
  EXPECT_EQ(row.optional_integer(0), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(row.optional_integer(8), std::nullopt);
  EXPECT_EQ(row.optional_real(2), 0.1);
  EXPECT_EQ(row.optional_real(8), std::nullopt);
  EXPECT_FALSE(row.step());
}

TEST_F(ConnectionTest, AStatementComesBackWithoutItsBindings) {
  insert("one");
  EXPECT_EQ(connection_->last_insert_rowid(), 1);
  EXPECT_EQ(connection_->changes(), 1);
  connection_->prepare("INSERT INTO things (name) VALUES (:name)").run();
  auto unnamed = connection_->prepare("SELECT count(*) FROM things WHERE name IS NULL");
  ASSERT_TRUE(unnamed.step());
  EXPECT_EQ(unnamed.integer(0), 1);
}

TEST_F(ConnectionTest, TheSameTextMayBeInUseTwice) {
  insert("one");
  insert("two");
  constexpr auto sql = "SELECT name FROM things WHERE id >= :id ORDER BY id";
  auto outer = connection_->prepare(sql);
  outer.bind(":id", 1);
  ASSERT_TRUE(outer.step());
  {
    auto inner = connection_->prepare(sql);
    ASSERT_TRUE(inner.bind(":id", 2).step());
    EXPECT_EQ(inner.text(0), "two");
  }
  EXPECT_EQ(outer.text(0), "one");
  EXPECT_TRUE(outer.step());
}

TEST_F(ConnectionTest, AnUnknownParameterIsAProgrammingError) {
  auto statement = connection_->prepare("SELECT :known");
  EXPECT_THROW(statement.bind(":unknown", 1), InternalError);
}

TEST_F(ConnectionTest, ErrorsCarryTheCodeAndTheStatement) {
  insert("one");
  try {
    insert("one");
    FAIL() << "the name was taken";
  } catch (const DatabaseError& error) {
    EXPECT_EQ(error.code(), SQLITE_CONSTRAINT_UNIQUE);
    EXPECT_NE(std::string(error.what()).find("INSERT INTO things"), std::string::npos);
  }
  insert("two");
}

TEST_F(ConnectionTest, TextInDoubleQuotesIsAName) {
  EXPECT_THROW(connection_->prepare("SELECT \"no such column\" FROM things"), DatabaseError);
}

TEST_F(ConnectionTest, AFullDiskIsItsOwnError) {
  connection_->execute("PRAGMA max_page_count = 1");
  EXPECT_THROW(insert(std::string(100'000, 'x')), DiskFull);
}

TEST_F(ConnectionTest, FreesItsPagesAndReadsThemAgain) {
  insert(std::string(100'000, 'x'));
  const auto before = testing::cached_bytes(*connection_);
  EXPECT_GT(before, 100'000);
  connection_->release_memory();
  EXPECT_LT(testing::cached_bytes(*connection_), before / 10);
  auto row = connection_->prepare("SELECT length(name) FROM things");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.integer(0), 100'000);
}

TEST_F(ConnectionTest, AReaderCannotWriteAndAMissingFileIsNotMade) {
  Connection reader(file_.string(), Connection::Access::read_only);
  EXPECT_THROW(reader.execute("DELETE FROM things"), DatabaseError);
  const auto missing = directory_.path() / "missing.db";
  EXPECT_THROW(Connection(missing.string(), Connection::Access::read_write), DatabaseError);
  EXPECT_FALSE(std::filesystem::exists(missing));
}

}  // namespace
}  // namespace agw
