#include "storage/row_insert.hpp"

#include <gmock/gmock.h>

#include "storage/testing.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using ::testing::ElementsAre;
using testing::Gate;
using testing::insert;
using testing::TestDatabase;
using testing::until;

using Numbers = std::span<const std::int64_t* const>;
using Notes = std::vector<std::string>;

void insert_numbers(Connection& connection, Numbers rows) {
  for (const auto* number : rows) insert(connection, *number, "one of " + std::to_string(rows.size()));
}

void insert_others(Connection& connection, Numbers rows) {
  for (const auto* number : rows) insert(connection, *number, "another of " + std::to_string(rows.size()));
}

/// The texts of the rows, by number.
Notes texts(Connection& connection) {
  Notes texts;
  auto row = connection.prepare("SELECT number || ' ' || text FROM rows ORDER BY number");
  while (row.step()) texts.push_back(row.string(0));
  return texts;
}

/// Writes of one test that wait for the writer together.
class RowInsertTest : public ::testing::Test {
protected:
  template <auto insert_all = insert_numbers>
  static Task<> add(Database& database, std::int64_t number, Notes& outcomes) {
    try {
      co_await database.insert<insert_all>(std::make_shared<const std::int64_t>(number));
      outcomes.push_back("done " + std::to_string(number));
    } catch (const DatabaseError&) {
      outcomes.push_back("failed " + std::to_string(number));
    }
  }

  static Task<> add_count(Database& database, std::int64_t number) {
    co_await database.write([number](Connection& connection) {
      insert(connection, number, "behind " + std::to_string(testing::numbers(connection).size()));
    });
  }

  /// Runs the writes started by `spawn` as one group and returns the resulting rows.
  static Notes rows_after(std::function<void(Database&, TaskGroup&)> spawn) {
    Notes rows;
    testing::run([&](Loop& loop) -> Task<> {
      TestDatabase database(loop);
      TaskGroup group(loop);
      Gate gate;
      co_await gate.shut(*database, group);
      const auto others = group.size();
      spawn(*database, group);
      co_await until([&] { return database->statistics().queued == group.size() - others; });
      gate.open();
      co_await group.join();
      rows = co_await database->read(texts);
    });
    return rows;
  }
};

TEST_F(RowInsertTest, RowsThatWaitTogetherAreInsertedTogether) {
  Notes outcomes;
  EXPECT_THAT(rows_after([&](Database& database, TaskGroup& group) {
                for (std::int64_t number = 1; number <= 3; ++number) group.spawn(add(database, number, outcomes));
              }),
              ElementsAre("1 one of 3", "2 one of 3", "3 one of 3"));
  EXPECT_THAT(outcomes, ElementsAre("done 1", "done 2", "done 3"));
}

TEST_F(RowInsertTest, WhatElseIsWrittenKeepsItsPlace) {
  Notes outcomes;
  EXPECT_THAT(rows_after([&](Database& database, TaskGroup& group) {
                group.spawn(add(database, 1, outcomes));
                group.spawn(add(database, 2, outcomes));
                group.spawn(add_count(database, 3));
                group.spawn(add(database, 4, outcomes));
              }),
              ElementsAre("1 one of 2", "2 one of 2", "3 behind 2", "4 one of 1"));
}

TEST_F(RowInsertTest, RowsOfAnotherKindAreInsertedByThemselves) {
  Notes outcomes;
  EXPECT_THAT(rows_after([&](Database& database, TaskGroup& group) {
                group.spawn(add(database, 1, outcomes));
                group.spawn(add(database, 2, outcomes));
                group.spawn(add<insert_others>(database, 3, outcomes));
                group.spawn(add<insert_others>(database, 4, outcomes));
              }),
              ElementsAre("1 one of 2", "2 one of 2", "3 another of 2", "4 another of 2"));
}

TEST_F(RowInsertTest, OnlyTheFaultyRowFails) {
  Notes outcomes;
  EXPECT_THAT(rows_after([&](Database& database, TaskGroup& group) {
                for (const std::int64_t number : {1, 2, 2, 3}) group.spawn(add(database, number, outcomes));
              }),
              ElementsAre("1 one of 1", "2 one of 1", "3 one of 1"));
  EXPECT_THAT(outcomes, ElementsAre("done 1", "done 2", "failed 2", "done 3"));
}

}  // namespace
}  // namespace agw
