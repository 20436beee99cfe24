#include "features/threads/search_indexer.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "features/threads/search_store.hpp"
#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

using namespace testing::threads;

/// A text of distinct words, about 128 KiB: the amount that is indexed at once.
std::string long_text(std::mt19937_64& numbers) {
  std::string text;
  while (text.size() < 128 * 1024) text += fmt::format("{:x} ", numbers() >> 24);
  return text;
}

/// How many pages the writer's connection has written between commits.
class PagesOfCommits {
public:
  void watch(Connection& connection) {
    handle_ = connection.handle();
    count();
    sqlite3_commit_hook(
        handle_,
        [](void* self) {
          auto& pages = *static_cast<PagesOfCommits*>(self);
          pages.most_ = std::max(pages.most_, pages.count());
          return 0;
        },
        this);
  }
  void stop() { sqlite3_commit_hook(handle_, nullptr, nullptr); }
  int most() const { return most_; }

private:
  int count() const {
    int pages = 0;
    int ignored = 0;
    sqlite3_db_status(handle_, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &ignored, 1);
    return pages;
  }

  sqlite3* handle_ = nullptr;
  int most_ = 0;
};

TEST(SearchIndexer, WritesFewPagesAtOnceHoweverManyTurnsWait) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({.agent_id = "builder"});
    std::mt19937_64 numbers(1);
    for (int i = 0; i < 150; ++i) co_await fixture.say(thread.id, long_text(numbers));
    PagesOfCommits pages;
    co_await fixture.database.write([&pages](Connection& connection) { pages.watch(connection); });
    co_await fixture.threads.index_all();
    co_await fixture.database.write([&pages](Connection&) { pages.stop(); });
    EXPECT_GT(pages.most(), 10);
    EXPECT_LT(pages.most(), 500) << "2 MB";
  });
}

TEST(SearchIndexer, MergesBeforeTheIndexHasVeryManySegments) {
  with_threads([](ThreadsFixture& fixture) -> Task<> {
    const auto thread = co_await fixture.threads.create({.agent_id = "builder"});
    for (int i = 1; i <= 65; ++i) {
      co_await fixture.say(thread.id, fmt::format("otter{}", i));
      co_await fixture.database.write(search_store::index_some);
    }
    EXPECT_EQ(co_await fixture.database.read(search_store::indexed), 64);
    EXPECT_EQ(co_await fixture.database.write(search_store::index_some), 1) << "still waits";

    EXPECT_TRUE(co_await fixture.database.write(search_store::merge_some));
    co_await fixture.database.write(search_store::index_some);
    EXPECT_EQ(co_await fixture.database.read(search_store::indexed), 65);
  });
}

}  // namespace
}  // namespace agw
