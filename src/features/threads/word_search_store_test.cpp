#include "features/threads/word_search_store.hpp"

#include <string>

#include <gtest/gtest.h>

#include "storage/database.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/testing.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

std::string first_text(Connection& connection, std::string_view sql) {
  auto row = connection.prepare(sql);
  row.step();
  return row.string(0);
}

std::string sync_setting(Connection& connection) { return first_text(connection, "SHOW synchronous_commit"); }

void add_turns(Connection& connection) {
  connection.execute(
      "INSERT INTO threads (id, agent_id, title, titled_by, mode, created_at, updated) VALUES ('t', 'assistant', "
      "'long', "
      "'person', 'plan', 0, 0)");
  connection.execute(
      "INSERT INTO turns (id, thread, role, created_at, content) SELECT 'turn' || n, (SELECT number FROM threads), "
      "'user', n, 'otter ' || n FROM generate_series(1, 163) AS made (n)");
}

TEST(WordSearchStore, IndexesEachTurnOnceAndOnlyThatWithoutWaitingForTheDisk) {
  SKIP_WITHOUT_POSTGRES();
  testing::run([](Loop& loop) -> Task<> {
    Database database(loop,
                      postgres::open_engine(loop, {.url = postgres::testing::Server::shared().create_database()}));
    co_await database.write(add_turns);
    int steps = 0;
    for (bool more = true; more; ++steps) {
      more = co_await database.write([](Connection& connection) {
        const bool some = word_search_store::index_some(connection);
        EXPECT_EQ(sync_setting(connection), some ? "off" : "on");
        return some;
      });
    }
    EXPECT_EQ(steps, 3);
    const auto [setting, indexed] = co_await database.write([](Connection& connection) {
      return std::pair(sync_setting(connection),
                       first_text(connection,
                                  "SELECT count(*) || ' of ' || (SELECT count(*) FROM turns) || ', ' || "
                                  "(SELECT count(*) FROM turns_to_index) FROM turn_words"));
    });
    EXPECT_EQ(setting, "on") << "acknowledged turns are on the disk";
    EXPECT_EQ(indexed, "163 of 163, 0");
  });
}

}  // namespace
}  // namespace agw
