#include "features/threads/turn_order_store.hpp"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace testing::threads;
using Texts = std::vector<std::string>;

/// The turns missing from their thread's order, and entries of the order without a turn.
constexpr auto disagreements =
    "SELECT (SELECT count(*) FROM (SELECT thread, number FROM turns EXCEPT SELECT thread, turn FROM thread_turns)) + "
    "(SELECT count(*) FROM (SELECT thread, turn FROM thread_turns EXCEPT SELECT thread, number FROM turns)) + "
    "(SELECT count(*) FROM thread_turns) - (SELECT count(*) FROM turns)";

/// Applies the same changes to a model of the threads (turns oldest first) and to a database.
class Story {
public:
  explicit Story(ThreadsFixture& fixture) : fixture_(fixture) {}

  Task<> take_step() {
    const auto chance = number(0, 99);
    if (threads_.empty() || chance < 2) {
      threads_[(co_await fixture_.threads.create({})).id];
    } else if (chance < 90) {
      co_await say();
    } else if (chance < 96) {
      co_await remove_turn();
    } else if (chance < 99) {
      co_await fork();
    } else {
      co_await remove_thread();
    }
  }

  Task<> compare() {
    for (const auto& [id, turns] : threads_) {
      auto expected = turns;
      std::ranges::reverse(expected);
      EXPECT_EQ(ids_of(co_await fixture_.threads.turns(id, {.limit = Limit{1000}})), expected);
      EXPECT_EQ((co_await fixture_.threads.require(id)).turn_count, static_cast<std::int64_t>(turns.size()));
      if (turns.size() < 2) continue;
      const auto place = static_cast<std::size_t>(number(1, static_cast<int>(turns.size()) - 1));
      const auto page = co_await fixture_.threads.turns(id, {.limit = Limit{1}, .before = turns[place]});
      EXPECT_EQ(ids_of(page), Texts{turns[place - 1]});
    }
    const auto wrong = co_await fixture_.database.read([](Connection& connection) {
      auto row = connection.prepare(disagreements);
      row.step();
      return row.integer(0);
    });
    EXPECT_EQ(wrong, 0);
  }

private:
  using Held = std::map<std::string, Texts>;

  int number(int min, int max) { return std::uniform_int_distribution(min, max)(random_); }
  Held::iterator any_thread() { return std::next(threads_.begin(), number(0, static_cast<int>(threads_.size()) - 1)); }

  Task<> say() {
    const auto thread = any_thread();
    thread->second.push_back((co_await fixture_.say(thread->first, "word")).id);
  }

  Task<> remove_turn() {
    auto& turns = any_thread()->second;
    if (turns.empty()) co_return;
    const auto place = turns.begin() + number(0, static_cast<int>(turns.size()) - 1);
    co_await fixture_.threads.remove_turn(*place);
    turns.erase(place);
  }

  Task<> fork() {
    const auto copy = co_await fixture_.threads.fork(any_thread()->first, {});
    auto ids = ids_of(co_await fixture_.threads.turns(copy.id, {.limit = Limit{1000}}));
    std::ranges::reverse(ids);
    threads_[copy.id] = ids;
  }

  Task<> remove_thread() {
    const auto thread = any_thread();
    co_await fixture_.threads.remove(thread->first);
    threads_.erase(thread);
    co_await fixture_.threads.index_all();
  }

  ThreadsFixture& fixture_;
  std::mt19937 random_{7};
  Held threads_;
};

TEST(TurnOrder, IsKeptThroughAdditionsCopiesAndRemovals) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    Story story(fixture);
    for (int step = 1; step <= 1000; ++step) {
      co_await story.take_step();
      if (step % 100 == 0) co_await story.compare();
    }
  });
}

TEST(TurnOrder, GivesTheNewestFirstWhereverTheyStand) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({});
    for (int i = 0; i < 40; ++i) co_await fixture.say(thread.id, "word");
    std::vector<std::int64_t> expected;
    for (std::int64_t turn = 38; turn > 0; --turn) expected.push_back(turn);
    const auto found = co_await fixture.database.read([](Connection& connection) {
      std::vector<std::int64_t> turns;
      turn_order_store::NewestFirst numbers(connection, 1, 39);
      while (const auto turn = numbers.next()) turns.push_back(*turn);
      return turns;
    });
    EXPECT_EQ(found, expected);
    const auto unknown = co_await fixture.database.read(
        [](Connection& connection) { return turn_order_store::NewestFirst(connection, 2).next(); });
    EXPECT_EQ(unknown, std::nullopt);
  });
}

}  // namespace
}  // namespace agw
