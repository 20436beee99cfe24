#include "features/shared_links/service.hpp"

#include <gtest/gtest.h>

#include "features/shared_links/store.hpp"
#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using namespace testing::threads;

struct LinksFixture {
  explicit LinksFixture(ThreadsFixture& of_threads, SharedLinks::Limits limits = {})
      : threads(of_threads), links(threads.loop, {threads.database, threads.clock, threads.blocking}, limits) {}

  Task<std::string> thread() { co_return (co_await threads.threads.create({.agent_id = "agent-1"})).id; }
  /// The rows in the table, including expired ones.
  Task<std::int64_t> rows() {
    co_return co_await threads.database.read(
        [](Connection& connection) { return shared_link_store::usage(connection).count; });
  }

  ThreadsFixture& threads;
  SharedLinks links;
};

void with_links(std::function<Task<>(LinksFixture&)> body, SharedLinks::Limits limits = {}) {
  with_threads([&](ThreadsFixture& threads) -> Task<> {
    LinksFixture fixture(threads, limits);
    co_await body(fixture);
  });
}

TEST(SharedLinksTest, AreReadUntilTheyAreTakenBack) {
  with_links([](LinksFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.thread();
    const std::string bytes("a\0b\xff", 4);
    const auto made = co_await fixture.links.create(thread, {.days = 7}, bytes);
    EXPECT_EQ(made.id.size(), 32u);
    EXPECT_EQ(made.size, 4);
    EXPECT_EQ(made.expires_at - made.created_at, std::chrono::days(7));
    const auto found = co_await fixture.links.content(made.id);
    EXPECT_EQ(found.bytes, bytes);
    EXPECT_EQ(found.expires_at, made.expires_at);
    co_await fixture.links.remove(made.id);
    EXPECT_EQ(co_await failure(fixture.links.content(made.id)), "404 link not found");
    EXPECT_EQ(co_await failure(fixture.links.remove(made.id)), "404 link not found");
  });
}

TEST(SharedLinksTest, AreListedNewestFirstPerThreadAndTogether) {
  with_links([](LinksFixture& fixture) -> Task<> {
    const auto one = co_await fixture.thread(), two = co_await fixture.thread();
    const auto first = co_await fixture.links.create(one, {}, "x");
    fixture.threads.clock.time += 1s;
    const auto second = co_await fixture.links.create(two, {}, "x");
    fixture.threads.clock.time += 1s;
    const auto third = co_await fixture.links.create(one, {}, "x");
    EXPECT_EQ(ids_of(co_await fixture.links.list()), (std::vector{third.id, second.id, first.id}));
    EXPECT_EQ(ids_of(co_await fixture.links.list(one)), (std::vector{third.id, first.id}));
  });
}

TEST(SharedLinksTest, EndByThemselves) {
  with_links([](LinksFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.thread();
    const auto made = co_await fixture.links.create(thread, {.days = 1}, "x");
    fixture.threads.clock.time = made.expires_at - 1ms;
    EXPECT_EQ((co_await fixture.links.content(made.id)).bytes, "x");
    fixture.threads.clock.time = made.expires_at;
    EXPECT_EQ(co_await failure(fixture.links.content(made.id)), "404 link not found");
    EXPECT_EQ(co_await failure(fixture.links.remove(made.id)), "404 link not found");
    EXPECT_TRUE((co_await fixture.links.list()).empty());
    EXPECT_EQ(co_await fixture.rows(), 1);
    co_await fixture.links.create(thread, {}, "y");
    EXPECT_EQ(co_await fixture.rows(), 1);
  });
}

TEST(SharedLinksTest, AreDeletedWhenTheyHaveExpired) {
  with_links([](LinksFixture& fixture) -> Task<> {
    const auto made = co_await fixture.links.create(co_await fixture.thread(), {.days = 1}, "x");
    fixture.threads.clock.time = made.expires_at;
    fixture.links.start();
    StopSource never;
    while (co_await fixture.rows() > 0) co_await pause(never, 1ms);
    co_await fixture.links.stop();
  });
}

TEST(SharedLinksTest, AreDeletedAtTheMomentTheyExpire) {
  with_links([](LinksFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.thread();
    fixture.links.start();
    const auto made = co_await fixture.links.create(thread, {.days = 1}, "x");
    // The next wait is until this one, because a new link makes the gateway look at the clock again.
    fixture.threads.clock.time = made.expires_at - 5ms;
    co_await fixture.links.create(thread, {.days = 2}, "y");
    fixture.threads.clock.time = made.expires_at;
    StopSource never;
    while (co_await fixture.rows() > 1) co_await pause(never, 1ms);
    co_await fixture.links.stop();
  });
}

TEST(SharedLinksTest, GoWithTheirThread) {
  with_links([](LinksFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.thread(), other = co_await fixture.thread();
    const auto made = co_await fixture.links.create(thread, {}, "x");
    const auto kept = co_await fixture.links.create(other, {}, "x");
    co_await fixture.threads.threads.remove(thread);
    EXPECT_EQ(co_await failure(fixture.links.content(made.id)), "404 link not found");
    EXPECT_EQ(ids_of(co_await fixture.links.list()), std::vector{kept.id});
    EXPECT_EQ(co_await failure(fixture.links.create(thread, {}, "x")), "404 thread not found");
  });
}

TEST(SharedLinksTest, LastADayToAYear) {
  with_links([](LinksFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.thread();
    for (const std::int64_t days : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{366}, std::int64_t{1} << 62}) {
      EXPECT_EQ(co_await failure(fixture.links.create(thread, {.days = days}, "x")), "400 days must be 1 to 365");
    }
    for (const auto days : {1, 365}) co_await fixture.links.create(thread, {.days = days}, "x");
  });
}

TEST(SharedLinksTest, AreOnlySoMany) {
  with_links(
      [](LinksFixture& fixture) -> Task<> {
        const auto thread = co_await fixture.thread();
        const auto first = co_await fixture.links.create(thread, {.days = 1}, "x");
        co_await fixture.links.create(thread, {.days = 2}, "x");
        EXPECT_EQ(co_await failure(fixture.links.create(thread, {}, "x")),
                  "409 there are 2 shared links: take one back first");
        fixture.threads.clock.time = first.expires_at;
        co_await fixture.links.create(thread, {}, "x");
      },
      {.links = 2});
}

TEST(SharedLinksTest, AreTogetherOnlySoLarge) {
  with_links(
      [](LinksFixture& fixture) -> Task<> {
        const auto thread = co_await fixture.thread();
        const std::string mebibyte(1024 * 1024, 'x');
        const auto first = co_await fixture.links.create(thread, {}, mebibyte);
        EXPECT_EQ(co_await failure(fixture.links.create(thread, {}, "x")),
                  "409 all shared links together may have 1 MiB: take one back first");
        co_await fixture.links.remove(first.id);
        co_await fixture.links.create(thread, {}, "x");
      },
      {.bytes = 1024 * 1024});
}

TEST(SharedLinksTest, AreOnlyLookedUpByTheirId) {
  with_links([](LinksFixture& fixture) -> Task<> {
    co_await fixture.links.create(co_await fixture.thread(), {}, "x");
    for (const std::string id : {"", "../gateway.db", "%", "' OR 1=1", "0123456789ABCDEF0123456789ABCDEF",
                                 "0123456789abcdef0123456789abcdef"}) {
      EXPECT_EQ(co_await failure(fixture.links.content(id)), "404 link not found") << id;
    }
  });
}

}  // namespace
}  // namespace agw
