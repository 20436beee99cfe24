#include "base/aftermath.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "base/group.hpp"
#include "base/requested.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

Task<> fail() {
  throw std::runtime_error("no row");
  co_return;
}

TEST(Aftermath, IsOverWhereNothingWasCaused) {
  testing::run([](Loop&) -> Task<> {
    Aftermath aftermath;
    EXPECT_TRUE(aftermath.over());
    co_await aftermath.settle();
  });
}

TEST(Aftermath, SettlesWhenAllThatBelongsToItHasEnded) {
  testing::run([](Loop& loop) -> Task<> {
    Group group(loop);
    Aftermath aftermath;
    Stop first;
    Stop second;
    bool settled = false;
    group.spawn(aftermath.of(requested(first)));
    group.spawn(aftermath.of(requested(second)));
    EXPECT_FALSE(aftermath.over());
    group.spawn([](Aftermath& all, bool& mark) -> Task<> {
      co_await all.settle();
      mark = true;
    }(aftermath, settled));
    Group later(loop);
    second.request();
    later.spawn(aftermath.of(requested(second)));
    co_await later.join();
    EXPECT_FALSE(settled);
    first.request();
    co_await group.join();
    EXPECT_TRUE(settled);
    EXPECT_TRUE(aftermath.over());
  });
}

TEST(Aftermath, DoesNotWaitForWhatComesLater) {
  testing::run([](Loop& loop) -> Task<> {
    Group group(loop);
    Aftermath aftermath;
    Stop now;
    Stop later;
    group.spawn(aftermath.of(requested(now)));
    Group waiting(loop);
    waiting.spawn(aftermath.settle());
    now.request();
    group.spawn(aftermath.of(requested(later)));
    co_await waiting.join();
    EXPECT_FALSE(aftermath.over());
    later.request();
    co_await group.join();
  });
}

TEST(Aftermath, IsOverAfterAFailure) {
  testing::run([](Loop& loop) -> Task<> {
    Group group(loop);
    group.on_failure([](const std::exception_ptr&) {});
    Aftermath aftermath;
    group.spawn(aftermath.of(fail()));
    co_await aftermath.settle();
    co_await group.join();
    EXPECT_TRUE(aftermath.over());
  });
}

}  // namespace
}  // namespace agw
