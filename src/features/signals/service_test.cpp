#include "features/signals/service.hpp"

#include <gtest/gtest.h>

#include "features/events/hub.hpp"
#include "features/signals/store.hpp"
#include "storage/database.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;

struct MovableClock : Clock {
  Timestamp now() const override { return time; }
  Timestamp time = *parse_iso8601("2026-01-02T03:04:05.678Z");
};

struct SignalsFixture {
  explicit SignalsFixture(Loop& loop)
      : database(loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"}),
        signals(database, hub, clock, std::chrono::days(90)) {}

  Task<std::size_t> rows() {
    return database.read([](Connection& connection) { return signal_store::list(connection, {}, {}).size(); });
  }

  testing::ScratchDirectory directory;
  MovableClock clock;
  Hub hub;
  Database database;
  Signals signals;
};

TEST(SignalsTest, OnesOlderThanTheRetentionAreNeitherListedNorKept) {
  testing::run([](Loop& loop) -> Task<> {
    SignalsFixture fixture(loop);
    co_await fixture.signals.raise({.kind = "disk-low", .message = "first"});
    fixture.clock.time += std::chrono::days(90);
    EXPECT_EQ((co_await fixture.signals.list()).size(), 1u);
    fixture.clock.time += 1ms;
    EXPECT_TRUE((co_await fixture.signals.list()).empty());
    co_await fixture.signals.raise({.kind = "disk-low", .message = "second"});
    EXPECT_EQ(co_await fixture.rows(), 1u);
  });
}

TEST(SignalsTest, AccompanyingWritesAreInTheSameTransaction) {
  testing::run([](Loop& loop) -> Task<> {
    SignalsFixture fixture(loop);
    bool failed = false;
    try {
      co_await fixture.signals.raise({.kind = "disk-low", .message = "first"},
                                     [](Connection&, const Signal&) { throw std::runtime_error("no"); });
    } catch (const std::runtime_error&) {
      failed = true;
    }
    EXPECT_TRUE(failed);
    EXPECT_TRUE((co_await fixture.signals.list()).empty());
  });
}

}  // namespace
}  // namespace agw
