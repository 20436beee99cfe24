#include <gmock/gmock.h>

#include "storage/database.hpp"
#include "storage/testing.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using ::testing::ElementsAre;
using testing::TestDatabase;

int remove_lowest(Connection& connection, int limit) {
  connection.prepare("DELETE FROM rows WHERE number IN (SELECT number FROM rows ORDER BY number LIMIT :limit)")
      .bind(":limit", limit)
      .run();
  return connection.changes();
}

Task<> fill(Database& database, std::int64_t count) {
  co_await database.write([count](Connection& connection) {
    for (std::int64_t number = 1; number <= count; ++number) testing::insert(connection, number);
  });
}

TEST(Removal, GoesOnUntilAPieceIsNotFull) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    co_await fill(*database, 450);
    StopSource stop;
    const auto removed = std::make_shared<std::vector<int>>();
    co_await remove_in_batches(*database, stop, "rows stay", [removed](Connection& connection, int limit) {
      return removed->emplace_back(remove_lowest(connection, limit));
    });
    EXPECT_THAT(*removed, ElementsAre(200, 200, 50));
    EXPECT_THAT(co_await database->read(testing::numbers), ElementsAre());
  });
}

TEST(Removal, EndsBetweenTwoPiecesWhenStopped) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    co_await fill(*database, 201);
    StopSource stop;
    stop.request();
    co_await remove_in_batches(*database, stop, "rows stay", remove_lowest);
    EXPECT_EQ((co_await database->read(testing::numbers)).size(), 201);
  });
}

TEST(Removal, EndsWithThePieceThatFails) {
  testing::run([](Loop& loop) -> Task<> {
    TestDatabase database(loop);
    co_await fill(*database, 450);
    StopSource stop;
    const auto tries = std::make_shared<int>(0);
    co_await remove_in_batches(*database, stop, "rows stay", [tries](Connection& connection, int limit) {
      if (++*tries == 2) throw std::runtime_error("no disk");
      return remove_lowest(connection, limit);
    });
    EXPECT_EQ(*tries, 2);
    EXPECT_EQ((co_await database->read(testing::numbers)).size(), 250);
  });
}

}  // namespace
}  // namespace agw
