#include "base/async/pending_effects.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

Task<> fail() {
  throw std::runtime_error("no row");
  co_return;
}

TEST(PendingEffects, IsSettledWithoutEffects) {
  testing::run([](Loop&) -> Task<> {
    PendingEffects pending_effects;
    EXPECT_TRUE(pending_effects.over());
    co_await pending_effects.settle();
  });
}

TEST(PendingEffects, SettlesOnceAllEffectsHaveEnded) {
  testing::run([](Loop& loop) -> Task<> {
    TaskGroup group(loop);
    PendingEffects pending_effects;
    StopSource first;
    StopSource second;
    bool settled = false;
    group.spawn(pending_effects.of(until_requested(first)));
    group.spawn(pending_effects.of(until_requested(second)));
    EXPECT_FALSE(pending_effects.over());
    group.spawn([](PendingEffects& all, bool& mark) -> Task<> {
      co_await all.settle();
      mark = true;
    }(pending_effects, settled));
    TaskGroup later(loop);
    second.request();
    later.spawn(pending_effects.of(until_requested(second)));
    co_await later.join();
    EXPECT_FALSE(settled);
    first.request();
    co_await group.join();
    EXPECT_TRUE(settled);
    EXPECT_TRUE(pending_effects.over());
  });
}

TEST(PendingEffects, DoesNotWaitForLaterEffects) {
  testing::run([](Loop& loop) -> Task<> {
    TaskGroup group(loop);
    PendingEffects pending_effects;
    StopSource now;
    StopSource later;
    group.spawn(pending_effects.of(until_requested(now)));
    TaskGroup waiting(loop);
    waiting.spawn(pending_effects.settle());
    now.request();
    group.spawn(pending_effects.of(until_requested(later)));
    co_await waiting.join();
    EXPECT_FALSE(pending_effects.over());
    later.request();
    co_await group.join();
  });
}

TEST(PendingEffects, SettlesAfterAFailure) {
  testing::run([](Loop& loop) -> Task<> {
    TaskGroup group(loop);
    group.on_failure([](const std::exception_ptr&) {});
    PendingEffects pending_effects;
    group.spawn(pending_effects.of(fail()));
    co_await pending_effects.settle();
    co_await group.join();
    EXPECT_TRUE(pending_effects.over());
  });
}

}  // namespace
}  // namespace agw
