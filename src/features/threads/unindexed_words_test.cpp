#include "features/threads/unindexed_words.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "features/threads/search.hpp"
#include "storage/tokenizer.hpp"
#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace testing::threads;
using search_store::Numbers;

/// The text of the n-th turn, which contains a unique word.
std::string nth_text(int n) {
  if (n == 100) return "Crème brûlée, scarce";
  if (n == 300) return "scarce 明日は東京に行きます";
  return fmt::format("the common word{}", n);
}

/// As many words as usual, the same ones in every block of 64 turns.
std::string text_like_others(int n) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += fmt::format("word{} ", n % 64 * 20 + i);
  return text;
}

using TextOf = std::string (*)(int n);

/// A thread of the agent `builder` with 650 turns that wait to be indexed.
Task<Thread> waiting_turns(ThreadsFixture& fixture, TextOf text) {
  const auto thread = co_await fixture.threads.create({.agent_id = "builder"});
  std::vector<PreparedTurn> turns;
  for (int n = 1; n <= 650; ++n) turns.push_back(fixture.threads.prepare({.thread_id = thread.id, .content = text(n)}));
  co_await fixture.database.write([&turns](Connection& connection) {
    for (const auto& turn : turns) Threads::insert_in(connection, turn);
  });
  co_return thread;
}

std::vector<Numbers> places_of(Connection& connection, const UnindexedWords& words, std::string q,
                               std::int64_t after = 0) {
  SearchQuery query(q);
  query.fold(Tokenizer(connection));
  return words.places(query, after);
}

bool covers(const std::vector<Numbers>& places, std::int64_t number) {
  return std::ranges::any_of(places, [=](auto range) { return range.first <= number && number <= range.last; });
}

/// How many of the 650 turns a search reads.
std::int64_t count_read(const std::vector<Numbers>& places) {
  std::int64_t count = 0;
  for (std::int64_t number = 1; number <= 650; ++number) count += covers(places, number) ? 1 : 0;
  return count;
}

void with_waiting_turns(std::function<void(Connection&, UnindexedWords&, const Thread&)> body, TextOf text = nth_text) {
  with_threads([body, text](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await waiting_turns(fixture, text);
    co_await fixture.database.write([&](Connection& connection) {
      UnindexedWords words;
      body(connection, words, thread);
    });
  });
}

TEST(UnindexedWords, AreSearchedOnlyWhereTheyMayBe) {
  with_waiting_turns([](Connection& connection, UnindexedWords& words, const Thread&) {
    EXPECT_EQ(count_read(places_of(connection, words, "creme")), 650);
    while (words.extend(connection)) {
    }
    const auto places = places_of(connection, words, "creme");
    EXPECT_TRUE(covers(places, 100));
    EXPECT_TRUE(covers(places, 650)) << "of a block that is not complete";
    EXPECT_TRUE(covers(places, 1'000'000)) << "of turns that were added later";
    EXPECT_LT(count_read(places), 300);
    EXPECT_EQ(count_read(places_of(connection, words, "common")), 650);
    EXPECT_EQ(count_read(places_of(connection, words, "cre*")), 650);
    EXPECT_LT(count_read(places_of(connection, words, "creme AND common NOT scarce")), 300);
    EXPECT_TRUE(std::ranges::is_sorted(places, std::greater{}, &Numbers::first));
  });
}

TEST(UnindexedWords, AreTakenForOthersInFewPlacesOnly) {
  with_waiting_turns(
      [](Connection& connection, UnindexedWords& words, const Thread&) {
        while (words.extend(connection)) {
        }
        EXPECT_EQ(count_read(places_of(connection, words, "word25")), 650);
        std::int64_t most = 0;
        for (int n = 0; n < 500; ++n)
          most = std::max(most, count_read(places_of(connection, words, fmt::format("absent{}", n))));
        EXPECT_LT(most, 400) << "a search for some word reads nearly all turns";
      },
      text_like_others);
}

TEST(UnindexedWords, AreForgottenOnceTheirTurnsAreIndexed) {
  with_waiting_turns([](Connection& connection, UnindexedWords& words, const Thread&) {
    while (words.extend(connection)) {
    }
    while (search_store::indexed(connection) < 350) search_store::index_some(connection);
    words.extend(connection);
    EXPECT_FALSE(covers(places_of(connection, words, "scarce", 350), 300));
    EXPECT_TRUE(covers(places_of(connection, words, "scarce", 90), 100)) << "for a search that sees an older state";
    words.clear();
    EXPECT_TRUE(covers(places_of(connection, words, "scarce", 350), 351));
  });
}

TEST(UnindexedWords, ChangeNothingOfWhatASearchFinds) {
  with_waiting_turns([](Connection& connection, UnindexedWords& words, const Thread& thread) {
    while (words.extend(connection)) {
    }
    for (const std::string q :
         {"creme", "CRÈME", "scarce", "word64", "WORD65", "word129 OR word577", "common NOT the", "\"common word640\"",
          "word64*", "東京", "scarce 東京", "scarce NOT 東京", "absent", "the"}) {
      for (const auto& of_thread : {std::optional<std::string>(), std::optional(thread.id)}) {
        const TurnSearch wanted{.q = q, .agent_id = "agent-1", .thread_id = of_thread, .agent_name = "builder"};
        const auto expected = contents_of(search_turns(connection, wanted, UnindexedWords{}));
        EXPECT_EQ(contents_of(search_turns(connection, wanted, words)), expected) << q;
        EXPECT_EQ(expected.empty(), q == "absent" || q == "common NOT the") << q;
      }
    }
  });
}

}  // namespace
}  // namespace agw
