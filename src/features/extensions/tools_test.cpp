#include <algorithm>
#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "testing/extensions_fixture.hpp"
#include "testing/tool_call.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using namespace testing::extensions;

/// Keeps the database from writing until `released`.
Task<> hold_writes(Database& database, std::atomic<bool>& holds, std::shared_future<void> released) {
  co_await database.write([&holds, released](Connection&) {
    holds = true;
    released.wait();
  });
}

/// Requests `cancelled` while a write waits, then lets it be done.
Task<> cancel_during_write(Database& database, StopSource& cancelled, std::promise<void>& release) {
  StopSource never;
  while (database.statistics().queued == 0) co_await pause(never, 1ms);
  cancelled.request();
  release.set_value();
}

TEST(ExtensionTools, ACallThatIsCancelledWhileItStoresTheRecordMakesItLive) {
  testing::run([](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    ExtensionsFixture fixture(loop, directory);
    const auto tools = extension_tools(fixture.extensions);
    const auto create =
        std::ranges::find(tools, "CreateExtension", [](const Tool& tool) { return tool.description.name; });
    testing::ToolCaller caller;
    std::promise<void> release;
    std::atomic<bool> holds = false;
    StopSource cancelled;
    TaskGroup meanwhile(loop);
    meanwhile.spawn(hold_writes(fixture.database, holds, release.get_future().share()));
    while (!holds) co_await pause(cancelled, 1ms);
    meanwhile.spawn(cancel_during_write(fixture.database, cancelled, release));
    const auto call = [&]() -> Task<> { co_await caller.call(*create, to_json(theme("mine"))); };
    co_await with_timeout(cancelled, no_limit, call());
    co_await meanwhile.join();
    EXPECT_TRUE(fixture.extensions.find_by_id_or_name("mine"));
  });
}

}  // namespace
}  // namespace agw
