#include "features/threads/search.hpp"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "features/threads/search_query.hpp"
#include "features/threads/search_store.hpp"
#include "features/threads/service.hpp"
#include "storage/migration.hpp"
#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace testing::threads;
using Texts = std::vector<std::string>;

/// A thread of the agent `builder` with these turns.
Task<Thread> thread_with(ThreadsFixture& fixture, Texts contents) {
  const auto thread = co_await fixture.threads.create({.agent_id = "builder"});
  for (const auto& content : contents) co_await fixture.say(thread.id, content);
  co_return thread;
}

Task<Texts> found(ThreadsFixture& fixture, std::string q, std::optional<std::string> thread_id = {}) {
  co_return contents_of(
      co_await fixture.threads.search({.q = std::move(q), .agent_id = "builder", .thread_id = std::move(thread_id)}));
}

/// Runs a test on turns that are not indexed yet, and again after indexing: the results must be the same.
void unindexed_and_indexed(Texts contents, std::function<Task<>(ThreadsFixture&, const Thread&)> body) {
  with_threads([&](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await thread_with(fixture, contents);
    co_await body(fixture, thread);
    co_await fixture.threads.index_all();
    co_await body(fixture, thread);
  });
}

TEST(Search, FindsTurnsThatHoldAllWords) {
  unindexed_and_indexed({"red apple", "green apple", "red brick"},
                        [](ThreadsFixture& fixture, const Thread&) -> Task<> {
                          EXPECT_EQ(co_await found(fixture, "red apple"), Texts{"red apple"});
                          EXPECT_EQ(co_await found(fixture, "apple red"), Texts{"red apple"});
                          EXPECT_EQ(co_await found(fixture, "RED AND apple"), Texts{"red apple"});
                          EXPECT_EQ(co_await found(fixture, "blue"), Texts{});
                        });
}

TEST(Search, FindsTurnsOfThreadsThatNamedTheAgentBeforeItExisted) {
  unindexed_and_indexed({"red apple", "apple pie"}, [](ThreadsFixture& fixture, const Thread& thread) -> Task<> {
    co_await fixture.database.write([id = thread.id](Connection& connection) {
      connection.prepare("UPDATE threads SET agent_id = 'builder' WHERE id = :id").bind(":id", id).run();
    });
    EXPECT_EQ(co_await found(fixture, "red apple"), Texts{"red apple"});
  });
}

TEST(Search, IgnoresCaseAndDiacritics) {
  unindexed_and_indexed({"Crème brûlée in ÖLAND"}, [](ThreadsFixture& fixture, const Thread&) -> Task<> {
    EXPECT_EQ((co_await found(fixture, "creme")).size(), 1u);
    EXPECT_EQ((co_await found(fixture, "BRÛLÉE oland")).size(), 1u);
  });
}

TEST(Search, FindsPartsOfSentencesInScriptsWithoutBlanks) {
  unindexed_and_indexed({"明日は東京に行きます", "2024年の東京", "大阪です", "tokyo"},
                        [](ThreadsFixture& fixture, const Thread&) -> Task<> {
                          EXPECT_EQ((co_await found(fixture, "東京")).size(), 2u);
                          EXPECT_EQ(co_await found(fixture, "東京 AND 行き*"), Texts{"明日は東京に行きます"});
                          EXPECT_EQ(co_await found(fixture, "東京 NOT 明日"), Texts{"2024年の東京"});
                          EXPECT_EQ((co_await found(fixture, "\"東京\" OR 大阪")).size(), 3u);
                          EXPECT_EQ(co_await found(fixture, "京都"), Texts{});
                        });
}

TEST(Search, FindsWordsThatAnotherScriptFollowsWithoutABlank) {
  unindexed_and_indexed(
      {"これはPython入門です", "Python入門書", "Dockerの設定", "pythonic", "NOT演算子", "東京 3Dプリンタ"},
      [](ThreadsFixture& fixture, const Thread&) -> Task<> {
        EXPECT_EQ((co_await found(fixture, "python")).size(), 2u);
        EXPECT_EQ((co_await found(fixture, "入門")).size(), 2u);
        EXPECT_EQ((co_await found(fixture, "Python入門")).size(), 2u);
        EXPECT_EQ(co_await found(fixture, "Python入門 NOT 書"), Texts{"これはPython入門です"});
        EXPECT_EQ(co_await found(fixture, "dock*"), Texts{"Dockerの設定"});
        EXPECT_EQ(co_await found(fixture, "NOT演算子"), Texts{"NOT演算子"});
        EXPECT_EQ(co_await found(fixture, "演算子AND"), Texts{});
        EXPECT_EQ(co_await found(fixture, "3d"), Texts{"東京 3Dプリンタ"});
        EXPECT_EQ(co_await found(fixture, "はPython入 NOT 書"), Texts{"これはPython入門です"});
        EXPECT_EQ(co_await found(fixture, "\"Python入\" NOT は"), Texts{"Python入門書"});
        EXPECT_EQ(co_await found(fixture, "\"Python入門書\""), Texts{"Python入門書"});
      });
}

TEST(Search, FindsTheWordsBetweenPartsThatStandInVeryMany) {
  Texts contents{"新しいGitHubのAPIを使う", "い sole"};
  for (int i = 0; i < 150; ++i) contents.push_back(fmt::format("あ{}いのを", i));
  unindexed_and_indexed(contents, [](ThreadsFixture& fixture, const Thread&) -> Task<> {
    EXPECT_EQ(co_await found(fixture, "い sole"), Texts{"い sole"});
    for (const auto* q : {"GitHubのAPI", "いGitHubのAPIを", "githubの", "新しいGitHubのAPIを使う"}) {
      EXPECT_EQ((co_await found(fixture, q)).size(), 1u) << q;
    }
  });
}

/// How many of these turns are indexed right after the upgrade of an older gateway's data. Checks that searches find
/// all of them.
std::int64_t indexed_after_update(Texts contents) {
  std::int64_t indexed = -1;
  with_threads([&](ThreadsFixture& fixture) -> Task<> {
    co_await thread_with(fixture, contents);
    co_await fixture.threads.index_all();
    indexed = co_await fixture.database.write([](Connection& connection) {
      const auto all = embedded_migrations();
      connection.execute(std::string(std::ranges::find(all, 181, &Migration::number)->sql));
      return search_store::indexed(connection);
    });
    EXPECT_EQ((co_await found(fixture, "plain")).size(), contents.size());
    co_await fixture.threads.index_all();
    EXPECT_EQ((co_await found(fixture, "plain")).size(), contents.size());
  });
  return indexed;
}

TEST(Search, IndexesAgainWhatAnOlderGatewayHasOnlyWhereSomeTextHasNoBlanks) {
  EXPECT_EQ(indexed_after_update({"plain", "plain入門"}), 0);
  EXPECT_EQ(indexed_after_update({"plain", "plain “Größe” – λόγος…"}), 2);
}

TEST(Search, FindsPhrasesPrefixesAndAlternatives) {
  unindexed_and_indexed({"the quick brown fox", "the brown quick fox", "a slow worm"},
                        [](ThreadsFixture& fixture, const Thread&) -> Task<> {
                          EXPECT_EQ(co_await found(fixture, "\"quick brown\""), Texts{"the quick brown fox"});
                          EXPECT_EQ(co_await found(fixture, "quick-brown"), Texts{"the quick brown fox"});
                          EXPECT_EQ(co_await found(fixture, "\"brown qui\"*"), Texts{"the brown quick fox"});
                          EXPECT_EQ(co_await found(fixture, "wor*"), Texts{"a slow worm"});
                          EXPECT_EQ((co_await found(fixture, "qui* OR slow")).size(), 3u);
                          EXPECT_EQ(co_await found(fixture, "fox NOT \"quick brown\""), Texts{"the brown quick fox"});
                          EXPECT_EQ(co_await found(fixture, "fox AND NOT \"quick brown\""),
                                    Texts{"the brown quick fox"});
                          EXPECT_EQ((co_await found(fixture, "(worm OR quick) (slow OR fox)")).size(), 3u);
                        });
}

TEST(Search, TreatsInvalidQueriesAsPlainWords) {
  unindexed_and_indexed({"salt and pepper", "salt", "c++ (language)"},
                        [](ThreadsFixture& fixture, const Thread&) -> Task<> {
                          EXPECT_EQ(co_await found(fixture, "salt AND"), (Texts{"salt", "salt and pepper"}));
                          EXPECT_EQ(co_await found(fixture, "\"pepper"), Texts{"salt and pepper"});
                          EXPECT_EQ(co_await found(fixture, "(pepper"), Texts{"salt and pepper"});
                          EXPECT_EQ(co_await found(fixture, "AND"), Texts{"salt and pepper"});
                          EXPECT_EQ(co_await found(fixture, "NOT salt pepper"), Texts{"salt and pepper"});
                          EXPECT_EQ(co_await found(fixture, "c++ ("), Texts{"c++ (language)"});
                          EXPECT_EQ(co_await found(fixture, "body:salt"), Texts{});
                          EXPECT_EQ(co_await found(fixture, "+++"), Texts{});
                          EXPECT_EQ(co_await found(fixture, ""), Texts{});
                        });
}

TEST(Search, IsNarrowedToTheAgentAndAThread) {
  unindexed_and_indexed({"apple"}, [](ThreadsFixture& fixture, const Thread& thread) -> Task<> {
    const auto other = co_await thread_with(fixture, {"apple too"});
    const auto foreign = co_await fixture.threads.create({.agent_id = "stranger"});
    co_await fixture.say(foreign.id, "apple of a stranger");
    EXPECT_EQ(co_await found(fixture, "apple too"), Texts{"apple too"});
    EXPECT_EQ(co_await found(fixture, "apple", thread.id), Texts{"apple"});
    EXPECT_EQ(co_await found(fixture, "apple", foreign.id), Texts{});
    EXPECT_EQ(co_await found(fixture, "apple", "x"), Texts{});
    EXPECT_EQ((co_await fixture.threads.search({.q = "apple", .agent_id = "nobody"})).size(), 0u);
    EXPECT_EQ((co_await fixture.threads.search({.q = "apple", .agent_id = "agent-1", .thread_id = other.id})).size(),
              1u);
    co_await fixture.threads.remove(other.id);
  });
}

TEST(Search, RanksTurnsByRelevance) {
  unindexed_and_indexed(
      {"apple", "a long text in which the apple is one word among very many others", "apple apple pie"},
      [](ThreadsFixture& fixture, const Thread&) -> Task<> {
        const auto turns = co_await found(fixture, "apple");
        EXPECT_EQ(turns.size(), 3u);
        EXPECT_EQ(turns.back(), "a long text in which the apple is one word among very many others");
      });
}

TEST(Search, ReturnsAtMostTheRequestedNumber) {
  unindexed_and_indexed(
      {"apple one", "apple two", "apple three"}, [](ThreadsFixture& fixture, const Thread&) -> Task<> {
        const TurnSearch wanted{.q = "apple", .agent_id = "builder", .limit = Limit{2}};
        EXPECT_EQ(contents_of(co_await fixture.threads.search(wanted)), (Texts{"apple three", "apple two"}));
      });
}

TEST(Search, ShowsTheTextAroundMatches) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "filler" + std::to_string(i) + "\n ";
  const auto place = text.find("filler50");
  text.insert(place, "a <b>needle</b> in ");
  unindexed_and_indexed({text, "one needle"}, [](ThreadsFixture& fixture, const Thread&) -> Task<> {
    const auto turns = co_await fixture.threads.search({.q = "needle", .agent_id = "builder"});
    EXPECT_EQ(turns.front().snippet, "one needle");
    const auto& snippet = turns.back().snippet;
    EXPECT_TRUE(snippet.starts_with("…filler47 filler48 filler49 a <b>needle</b> in filler50 ")) << snippet;
    EXPECT_TRUE(snippet.ends_with("…")) << snippet;
    EXPECT_LT(snippet.size(), 250u);
  });
}

TEST(Search, FindsNothingThatWasDeleted) {
  unindexed_and_indexed({"apple one", "apple two"}, [](ThreadsFixture& fixture, const Thread& thread) -> Task<> {
    const auto gone = co_await fixture.say(thread.id, "apple gone");
    EXPECT_EQ((co_await found(fixture, "apple")).size(), 3u);
    co_await fixture.threads.remove_turn(gone.id);
    EXPECT_EQ((co_await found(fixture, "apple")).size(), 2u);
    const auto other = co_await thread_with(fixture, {"apple other"});
    co_await fixture.threads.remove(other.id);
    EXPECT_EQ((co_await found(fixture, "apple")).size(), 2u);
  });
}

TEST(Search, KeepsTheIndexIntactAfterDeletions) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto kept = co_await thread_with(fixture, {"apple kept"});
    const auto doomed = co_await thread_with(fixture, {"apple one", "apple two"});
    const auto turn = co_await fixture.say(kept.id, "apple removed");
    co_await fixture.threads.index_all();
    co_await fixture.say(doomed.id, "apple three");
    co_await fixture.threads.remove_turn(turn.id);
    co_await fixture.threads.remove(doomed.id);
    EXPECT_EQ(co_await found(fixture, "apple"), Texts{"apple kept"});
    co_await fixture.threads.index_all();
    EXPECT_EQ(co_await found(fixture, "apple"), Texts{"apple kept"});
    const auto rows = co_await fixture.database.write([](Connection& connection) {
      connection.execute("INSERT INTO turn_words (turn_words) VALUES ('integrity-check')");
      auto row = connection.prepare("SELECT count(*) FROM turn_words WHERE turn_words MATCH 'apple'");
      row.step();
      return row.integer(0);
    });
    EXPECT_EQ(rows, 1);
  });
}

TEST(Search, FindsTheCopiesOfAFork) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await thread_with(fixture, {"apple"});
    const auto fork = co_await fixture.threads.fork(thread.id, {});
    co_await fixture.threads.index_all();
    EXPECT_EQ(co_await found(fixture, "apple", fork.id), Texts{"apple"});
  });
}

TEST(Search, IndexesInTheBackground) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    fixture.threads.start();
    co_await thread_with(fixture, {"apple"});
    std::int64_t indexed = 0;
    while (indexed == 0) {
      indexed = co_await fixture.database.read([](Connection& connection) {
        auto row = connection.prepare("SELECT indexed FROM search_progress");
        row.step();
        return row.integer(0);
      });
    }
    EXPECT_EQ(co_await found(fixture, "apple"), Texts{"apple"});
    co_await fixture.threads.stop();
  });
}

/// A random sequence of tokens of the query syntax.
std::string random_query(std::mt19937& random) {
  static const Texts pieces{"apple",     "red",  "AND",  "OR",    "NOT",
                            "(",         ")",    "\"",   "*",     " ",
                            "-",         "^",    "NEAR", ":",     "red apple",
                            "\"apple\"", "app*", "é",    "{}",    "'",
                            "\\",        ",",    "+",    ";",     "\xF0\x9F\x8D\x8E",
                            "\t",        "+a",   "0",    "body :"};
  std::string query;
  for (auto count = random() % 14; count > 0; --count) {
    query += pieces[random() % pieces.size()];
    if (random() % 2) query += ' ';
  }
  return query;
}

TEST(Search, AcceptsAnyInputAndFindsTheSameWithAndWithoutIndex) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    co_await thread_with(fixture, {"red apple", "apple", "red", "near apple and not red", "body apple 0", "🍎 é app"});
    std::mt19937 random(7);
    std::vector<std::pair<std::string, std::multiset<std::string>>> before;
    for (int i = 0; i < 1500; ++i) {
      const auto query = random_query(random);
      const auto turns = co_await found(fixture, query);
      before.emplace_back(query, std::multiset<std::string>(turns.begin(), turns.end()));
    }
    co_await fixture.threads.index_all();
    for (const auto& [query, expected] : before) {
      const auto turns = co_await found(fixture, query);
      EXPECT_EQ(std::multiset<std::string>(turns.begin(), turns.end()), expected) << query;
    }
  });
}

TEST(Search, AcceptsDeepAndLongQueries) {
  unindexed_and_indexed({"apple"}, [](ThreadsFixture& fixture, const Thread&) -> Task<> {
    std::string words;
    for (int i = 0; i < 5000; ++i) words += "apple ";
    EXPECT_EQ((co_await found(fixture, words)).size(), 1u);
    std::string alternatives = "apple";
    for (int i = 0; i < 50; ++i) alternatives += " OR w" + std::to_string(i);
    EXPECT_EQ((co_await found(fixture, alternatives)).size(), 1u);
    for (int depth : {1, 5, 6, 7, 1000}) {
      const std::string open(static_cast<std::size_t>(depth), '(');
      const std::string close(static_cast<std::size_t>(depth), ')');
      EXPECT_EQ((co_await found(fixture, open + "apple" + close)).size(), 1u) << depth;
    }
    std::string nested = "apple";
    for (int i = 0; i < 6; ++i) nested = "x OR apple AND apple NOT (y OR z w) NOT w (apple OR z (" + nested + "))";
    co_await found(fixture, nested);
    std::string max_depth = "apple";
    for (int i = 0; i < 6; ++i) max_depth = "w OR w AND w NOT w (" + max_depth + ")";
    co_await found(fixture, max_depth);
    co_await found(fixture, std::string("app\0le", 6));
    co_await found(fixture, std::string(100'000, '('));
    co_await found(fixture, std::string(100'000, 'a'));
  });
}

/// Enough turns that a search queries the index for rare words only.
Task<Thread> large_thread(ThreadsFixture& fixture) {
  const auto thread = co_await fixture.threads.create({.agent_id = "builder"});
  const auto count = static_cast<int>(large_index) + 500;
  std::vector<PreparedTurn> turns;
  for (int i = 0; i < count; ++i) {
    std::string content = "the common word " + std::to_string(i);
    if (i % 1000 == 0) content += " scarce";
    if (i == 4) content = "one scarce thing without it";
    turns.push_back(fixture.threads.prepare({.thread_id = thread.id, .content = content}));
  }
  co_await fixture.database.write([&turns](Connection& connection) {
    for (const auto& turn : turns) Threads::insert_in(connection, turn);
  });
  co_await fixture.threads.index_all();
  co_return thread;
}

TEST(Search, FindsAllThatMatchAmongManyTurns) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await large_thread(fixture);
    EXPECT_EQ((co_await found(fixture, "scarce")).size(), 12u);
    EXPECT_EQ((co_await found(fixture, "the scarce")).size(), 11u);
    EXPECT_EQ((co_await found(fixture, "comm* scarce")).size(), 11u);
    EXPECT_EQ((co_await found(fixture, "\"common word\" scarce", thread.id)).size(), 11u);
    EXPECT_EQ((co_await found(fixture, "scarce NOT the")).size(), 1u);
    EXPECT_EQ((co_await found(fixture, "the 7")), Texts{"the common word 7"});
    EXPECT_EQ((co_await found(fixture, "the common \"word 8\"")), Texts{"the common word 8"});
    EXPECT_EQ((co_await found(fixture, "the common")).size(), 20u);
    EXPECT_EQ((co_await found(fixture, "th*")).size(), 20u);
    EXPECT_EQ((co_await found(fixture, "scar*")).size(), 12u);
    EXPECT_EQ((co_await found(fixture, "without OR nowhere")).size(), 1u);
    EXPECT_EQ((co_await found(fixture, "the without")), Texts{});
  });
}

/// A thread of the agent `builder` with `count` turns of the same text, indexed.
Task<Thread> thread_of_many(ThreadsFixture& fixture, int count, std::string content) {
  const auto thread = co_await fixture.threads.create({.agent_id = "builder"});
  std::vector<PreparedTurn> turns;
  for (int i = 0; i < count; ++i)
    turns.push_back(fixture.threads.prepare({.thread_id = thread.id, .content = content}));
  co_await fixture.database.write([&turns](Connection& connection) {
    for (const auto& turn : turns) Threads::insert_in(connection, turn);
  });
  co_await fixture.threads.index_all();
  co_return thread;
}

TEST(Search, FindsTheRequestedNumber) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    co_await thread_of_many(fixture, 900, "apple");
    const auto all = co_await fixture.threads.search({.q = "apple", .agent_id = "builder", .limit = Limit{1000}});
    EXPECT_EQ(all.size(), 900u);
  });
}

TEST(Search, IsNotDelayedByAThreadThatIsBeingDeleted) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    co_await thread_with(fixture, {"an apple that stays"});
    const auto deleted = co_await thread_of_many(fixture, 1100, "an apple that goes");
    co_await fixture.threads.remove(deleted.id);
    EXPECT_EQ((co_await found(fixture, "apple")), Texts{"an apple that stays"});
  });
}

/// Takes many minutes unless all words are searched in one pass.
TEST(Search, ReadsAVeryLongQuery) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "a ";
  EXPECT_EQ(SearchQuery(text).terms().size(), SearchQuery::max_terms);
}

}  // namespace
}  // namespace agw
