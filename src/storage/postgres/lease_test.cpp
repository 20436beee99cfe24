#include "storage/postgres/lease.hpp"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>

#include "storage/database.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/errors.hpp"
#include "storage/postgres/session.hpp"
#include "storage/postgres/testing.hpp"
#include "testing/run.hpp"

namespace agw::postgres {
namespace {

using agw::testing::run;
using testing::Server;

class LeaseTest : public ::testing::Test {
protected:
  void SetUp() override {
    SKIP_WITHOUT_POSTGRES();
    url_ = Server::shared().create_database();
  }

  std::unique_ptr<Database> open(Loop& loop, std::string node) {
    return std::make_unique<Database>(loop, open_engine(loop, {.url = url_,
                                                               .node = std::move(node),
                                                               .on_changes = [](auto) {},
                                                               .on_lead = [this] { leads_ = true; },
                                                               .on_lost_node = [](const LostNode&) {},
                                                               .on_lost = [this] { ++losses_; }}));
  }

  /// Opens the node whose lease expires and waits for its first renewal; the next one is two seconds later.
  Task<std::unique_ptr<Database>> open_slow(Loop& loop) {
    leads_ = false;
    auto slow = open(loop, "slow");
    while (!leads_) co_await asio::post(loop, asio::use_awaitable);
    co_return slow;
  }

  /// Simulates a node that has not renewed its lease in time.
  void expire(const std::string& node) {
    execute("UPDATE gateway_owner SET lease_until = clock_timestamp() - interval '1 second' WHERE node = '" + node +
            "'");
  }

  void execute(const std::string& sql) {
    Session(read_address(url_), Session::Clock::now() + std::chrono::seconds(5), never_).execute(sql);
  }

  std::string url_;
  int losses_ = 0;
  bool leads_ = false;
  Session::Deadline never_ = Session::Clock::time_point::max();
};

Task<std::string> id_of(Database& database, std::string node) {
  co_return co_await database.read([node](Connection& connection) {
    auto row = connection.prepare("SELECT id FROM gateway_owner WHERE node = :node");
    return row.bind(":node", node).step() ? row.string(0) : std::string();
  });
}

Task<bool> write(Database& database, std::string name) {
  try {
    co_await database.write([name](Connection& connection) {
      connection.prepare("INSERT INTO chosen_settings (name, value) VALUES (:name, '')").bind(":name", name).run();
    });
  } catch (const DatabaseTaken&) {
    co_return false;
  }
  co_return true;
}

Task<bool> claim_by(Database& database, LostNode lost, std::string id = "claim") {
  co_return co_await database.write([lost, id](Connection& connection) { return claim(connection, lost, id); });
}

/// Tries all orders of the steps: the node writes twice; its lease expires; another node claims it. A model states the
/// expected result of each step: a claim succeeds after the expiry, and no write succeeds after a claim.
TEST_F(LeaseTest, NothingIsWrittenAfterAClaimInAnyOrder) {
  enum Step { first_write, second_write, expiry, claiming };
  std::array steps{first_write, second_write, expiry, claiming};
  int order = 0;
  do {
    ++order;
    run([&](Loop& loop) -> Task<> {
      const auto slow = co_await open_slow(loop);
      const auto other = open(loop, "other");
      const LostNode lost{"slow", co_await id_of(*other, "slow")};
      bool has_expired = false;
      bool is_claimed = false;
      for (const auto step : steps) {
        if (step == expiry) {
          if (!is_claimed) expire("slow");
          has_expired = true;
        } else if (step == claiming) {
          is_claimed = co_await claim_by(*other, lost);
          EXPECT_EQ(is_claimed, has_expired) << "order " << order;
        } else {
          const auto name = std::to_string(order) + (step == first_write ? "a" : "b");
          EXPECT_EQ(co_await write(*slow, name), !is_claimed) << "order " << order;
        }
      }
    });
  } while (std::ranges::next_permutation(steps).found);
  EXPECT_EQ(order, 24);
}

TEST_F(LeaseTest, AWriteThatHasBegunBeforeTheClaimIsSeenByItOrFails) {
  run([this](Loop& loop) -> Task<> {
    const auto slow = co_await open_slow(loop);
    const auto other = open(loop, "other");
    const LostNode lost{"slow", co_await id_of(*other, "slow")};
    bool was_tried = false;
    bool is_claimed = false;
    std::string outcome = "written";
    try {
      co_await slow->write([&, this](Connection& connection) {
        connection.prepare("INSERT INTO chosen_settings (name, value) VALUES ('late', '')").run();
        if (std::exchange(was_tried, true)) return;
        expire("slow");
        Session claimer(read_address(url_), Session::Clock::now() + std::chrono::seconds(5), never_);
        claimer.execute(
            "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM chosen_settings; "
            "UPDATE gateway_owner SET id = 'claim' WHERE node = 'slow' AND lease_until < clock_timestamp(); COMMIT");
        is_claimed = true;
      });
    } catch (const DatabaseTaken&) {
      outcome = "refused";
    }
    EXPECT_TRUE(is_claimed);
    EXPECT_EQ(outcome, "refused") << "the claim did not see it, so it must not be there";
    EXPECT_EQ(co_await other->read([](Connection& connection) {
      auto row = connection.prepare("SELECT count(*) FROM chosen_settings");
      row.step();
      return row.integer(0);
    }),
              0);
  });
}

TEST_F(LeaseTest, AClaimIsMadeOnceAndExpiresToo) {
  run([this](Loop& loop) -> Task<> {
    auto lost = co_await open_slow(loop);
    const auto one = open(loop, "one");
    const auto two = open(loop, "two");
    const LostNode known{"slow", co_await id_of(*one, "slow")};
    expire("slow");
    EXPECT_TRUE(co_await claim_by(*one, known));
    EXPECT_FALSE(co_await claim_by(*two, known));
    expire("slow");
    EXPECT_TRUE(co_await claim_by(*two, {"slow", "claim"}, "next"));
    co_await two->write([](Connection& connection) { release(connection, "next"); });
    EXPECT_EQ(co_await id_of(*one, "slow"), "");
  });
}

TEST_F(LeaseTest, ANodeIsNotifiedThatItWasClaimed) {
  run([this](Loop& loop) -> Task<> {
    const auto slow = co_await open_slow(loop);
    const auto other = open(loop, "other");
    const LostNode lost{"slow", co_await id_of(*other, "slow")};
    expire("slow");
    EXPECT_TRUE(co_await claim_by(*other, lost));
    while (losses_ == 0) co_await asio::post(loop, asio::use_awaitable);
  });
}

}  // namespace
}  // namespace agw::postgres
