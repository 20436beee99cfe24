#include "features/checkpoints/store.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "testing/checkpoints_fixture.hpp"

namespace agw {
namespace {

using testing::CheckpointsFixture;
using testing::with_fixture;

TEST(CheckpointStore, ForgetsOldRecordsOfAllTables) {
  with_fixture([](CheckpointsFixture& fixture) -> Task<> {
    const auto now = fixture.clock.now();
    co_await fixture.database.write([now](Connection& connection) {
      for (int i = 0; i < 450; ++i) {
        const auto path = "/p/" + std::to_string(i);
        const StoredState made{.kind = EntryKind::directory};
        checkpoint_store::insert(connection, {.run_id = "r", .path = path, .after = made, .created_at = now});
        checkpoint_store::insert_uncovered(connection, "r", {path, "large"}, now);
      }
      checkpoint_store::add_host(connection, "r", {.host = "h", .port = 443, .connections = 1}, now);
    });
    StopSource never;
    const auto oldest = now + std::chrono::days(1);
    co_await remove_in_batches(fixture.database, never, "records stay", [oldest](Connection& connection, int limit) {
      return checkpoint_store::forget(connection, oldest, limit);
    });
    const auto left = co_await fixture.database.read([](Connection& connection) {
      return checkpoint_store::of_run(connection, "r").size() + checkpoint_store::uncovered_of(connection, "r").size() +
             checkpoint_store::hosts_of(connection, "r").size();
    });
    EXPECT_EQ(left, 0u);
  });
}

}  // namespace
}  // namespace agw
