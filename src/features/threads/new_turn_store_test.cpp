#include <algorithm>

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "storage/testing.hpp"
#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace testing::threads;
using Texts = std::vector<std::string>;

/// Adds the turn `content` and appends the outcome.
Task<> add_to(Threads& threads, std::string thread_id, std::string content, Texts& outcomes) {
  AddTurn turn{.thread_id = std::move(thread_id), .role = Role::user, .content = content};
  if (content.size() % 2 == 0) turn.metadata = json::object{{"length", content.size()}};
  try {
    outcomes.push_back(content + " " + (co_await threads.add_turn(std::move(turn))).content);
  } catch (const ApiError& error) {
    outcomes.push_back(content + " " + error.error());
  }
}

/// Adds 20 turns to each of 20 threads in rotation, all queued for the writer at the same time. Thread `unknown` does
/// not exist.
Task<> add_many(ThreadsFixture& fixture, const std::vector<Thread>& made, Texts& outcomes,
                std::optional<std::size_t> unknown) {
  TaskGroup group(fixture.loop);
  testing::Gate gate;
  co_await gate.shut(fixture.database, group);
  std::size_t queued = 0;
  for (std::size_t number = 1; number <= 20; ++number) {
    for (std::size_t i = 0; i < made.size(); ++i, ++queued)
      group.spawn(add_to(fixture.threads, i == unknown ? "none" : made[i].id, std::string(number, 'x'), outcomes));
  }
  co_await testing::until([&] { return fixture.database.statistics().queued == queued; });
  gate.open();
  co_await group.join();
}

TEST(Turns, KeepTheirThreadAndOrderWhereManyAreAddedAtOnce) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    std::vector<Thread> made;
    for (int i = 0; i < 20; ++i) made.push_back(co_await fixture.threads.create({}));
    Texts outcomes;
    co_await add_many(fixture, made, outcomes, {});
    for (const auto& thread : made) {
      const auto turns = co_await fixture.threads.turns(thread.id, {});
      EXPECT_EQ(turns.size(), 20U);
      for (std::size_t i = 0; i < turns.size(); ++i) {
        const auto length = turns.size() - i;
        EXPECT_EQ(turns[i].content, std::string(length, 'x'));
        EXPECT_EQ(turns[i].metadata.has_value(), length % 2 == 0);
      }
      const auto now = co_await fixture.threads.require(thread.id);
      EXPECT_EQ(now.turn_count, 20);
      EXPECT_EQ(now.title, "x");
    }
  });
}

TEST(Turns, OfOtherThreadsAreAddedWhereOneIsRefused) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    std::vector<Thread> made;
    for (int i = 0; i < 3; ++i) made.push_back(co_await fixture.threads.create({}));
    Texts outcomes;
    co_await add_many(fixture, made, outcomes, 1);
    EXPECT_EQ(outcomes.size(), 60U);
    EXPECT_EQ(std::ranges::count(outcomes, "xx thread not found"), 1);
    EXPECT_EQ(std::ranges::count(outcomes, "xx xx"), 2);
    for (std::size_t i = 0; i < made.size(); ++i)
      EXPECT_EQ((co_await fixture.threads.require(made[i].id)).turn_count, i == 1 ? 0 : 20);
  });
}

}  // namespace
}  // namespace agw
