#include "storage/postgres/change_feed.hpp"

#include <thread>

#include <gmock/gmock.h>

#include "storage/database.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/testing.hpp"
#include "testing/run.hpp"

namespace agw::postgres {
namespace {

using agw::testing::run;
using ::testing::ElementsAre;
using testing::Server;

class ChangeFeedTest : public ::testing::Test {
protected:
  void SetUp() override {
    SKIP_WITHOUT_POSTGRES();
    url_ = Server::shared().create_database();
  }

  std::unique_ptr<Database> open(Loop& loop, std::string node, OnChanges on_changes = [](auto) {}) {
    return std::make_unique<Database>(loop, open_engine(loop, {.url = url_,
                                                               .node = std::move(node),
                                                               .on_changes = std::move(on_changes),
                                                               .on_lead = [this] { ++leads_; },
                                                               .on_lost_node = [](const LostNode&) {},
                                                               .on_lost = [this] { ++losses_; }}));
  }

  std::string url_;
  int leads_ = 0;
  int losses_ = 0;
};

Task<> choose(Database& database, std::string name) {
  co_await database.write([name](Connection& connection) {
    connection.prepare("INSERT INTO chosen_settings (name, value) VALUES (:name, '')").bind(":name", name).run();
  });
}

Task<> wait_until(Loop& loop, std::function<bool()> holds) {
  while (!holds()) co_await asio::post(loop, asio::use_awaitable);
}

TEST_F(ChangeFeedTest, ANodeIsNotifiedOfChangesOfAnother) {
  run([this](Loop& loop) -> Task<> {
    std::vector<std::string> heard;
    const auto first = open(loop, "a");
    co_await choose(*first, "before");
    const auto second = open(loop, "b", [&](const std::vector<RecordChange>& changes) {
      for (const auto& change : changes) heard.push_back(change.topic + " " + change.key);
    });
    for (const auto* name : {"one", "two", "three"}) co_await choose(*first, name);
    co_await wait_until(loop, [&] { return heard.size() == 3; });
    EXPECT_THAT(heard, ElementsAre("chosen_settings one", "chosen_settings two", "chosen_settings three"));
  });
}

TEST_F(ChangeFeedTest, TheNextNodeLeadsOnceTheFirstHasEnded) {
  run([this](Loop& loop) -> Task<> {
    auto first = open(loop, "a");
    co_await wait_until(loop, [&] { return leads_ == 1; });
    const auto second = open(loop, "b");
    co_await choose(*second, "meanwhile");
    EXPECT_EQ(leads_, 1);
    first.reset();
    co_await wait_until(loop, [&] { return leads_ == 2; });
    EXPECT_EQ(losses_, 0);
  });
}

TEST_F(ChangeFeedTest, ALeaderThatLostItsConnectionIsNotifiedThatAnotherLeads) {
  run([this](Loop& loop) -> Task<> {
    const auto database = open(loop, "a");
    co_await wait_until(loop, [&] { return leads_ == 1; });
    Session::Deadline never = Session::Clock::time_point::max();
    const auto connect = [&] {
      return Session(read_address(url_), Session::Clock::now() + std::chrono::seconds(5), never);
    };
    auto heir = connect();
    auto ender = connect();
    std::thread waits([&] { heir.execute("SELECT pg_advisory_lock(7424, hashtext(current_schema()))"); });
    ender.execute(
        "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database WHERE "
        "datname "
        "= current_database() AND CAST(classid AS bigint) = 7424 AND NOT granted) LOOP PERFORM pg_sleep(0.01); END "
        "LOOP; END $$; "
        "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE datname = current_database() AND CAST(classid AS bigint) = 7424 AND granted");
    waits.join();
    co_await wait_until(loop, [&] { return losses_ == 1; });
    EXPECT_EQ(leads_, 1);
  });
}

TEST_F(ChangeFeedTest, ALeaderGoesOnAfterItsServerHasRestarted) {
  run([this](Loop& loop) -> Task<> {
    std::vector<std::string> heard;
    const auto database = open(loop, "a", [&](const std::vector<RecordChange>& changes) {
      for (const auto& change : changes) heard.push_back(change.key);
    });
    co_await wait_until(loop, [&] { return leads_ == 1; });
    Server::shared().stop();
    Server::shared().start();
    co_await choose(*database, "after");
    co_await wait_until(loop, [&] { return heard.size() == 1; });
    EXPECT_EQ(leads_, 1);
    EXPECT_EQ(losses_, 0);
  });
}

}  // namespace
}  // namespace agw::postgres
