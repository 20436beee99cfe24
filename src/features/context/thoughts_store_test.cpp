#include "features/context/thoughts_store.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "testing/threads_fixture.hpp"

namespace agw {
namespace {

constexpr auto model = "service/model";

void with_connection(std::function<void(Connection&)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    testing::threads::ThreadsFixture fixture(loop, directory);
    co_await fixture.database.write([&body](Connection& connection) { body(connection); });
  });
}

std::vector<StepThoughts> thoughts_of(std::size_t bytes, const std::string& by = model) {
  return {{2, by, {json::object{{"thinking", std::string(bytes, 'x')}}}}};
}

thoughts_store::Found all(Connection& connection, std::size_t limit) {
  return thoughts_store::list(connection, thoughts_store::sizes(connection, "t", model), limit);
}

std::string turns_in(const thoughts_store::Found& found) {
  std::string turns;
  for (const auto& [turn, thoughts] : found.answers) turns += turn;
  return turns;
}

TEST(ThoughtsStore, HasWhatWasStored) {
  with_connection([](Connection& connection) {
    thoughts_store::put(connection, "t", "a", model, thoughts_of(3));
    const auto found = all(connection, 1'000);
    const auto& thoughts = found.answers.at("a").at(0);
    EXPECT_EQ(thoughts.step, 2);
    EXPECT_EQ(thoughts.model, model);
    EXPECT_EQ(to_json(thoughts.blocks), R"([{"thinking":"xxx"}])");
    thoughts_store::forget(connection, "t");
    EXPECT_EQ(turns_in(all(connection, 1'000)), "");
  });
}

TEST(ThoughtsStore, DropsThoughtsOnceAnotherModelHasAnswered) {
  with_connection([](Connection& connection) {
    thoughts_store::put(connection, "t", "a", model, thoughts_of(3));
    thoughts_store::put(connection, "t", "b", "another/model", {});
    EXPECT_EQ(turns_in(all(connection, 1'000)), "");
  });
}

TEST(ThoughtsStore, LeavesOutTheOldestInLargePieces) {
  with_connection([](Connection& connection) {
    std::string left;
    for (const auto* turn : {"a", "b", "c", "d", "e", "f", "g"}) {
      thoughts_store::put(connection, "t", turn, model, thoughts_of(1'000));
      left += (left.empty() ? "" : " ") + turns_in(all(connection, 4'400));
    }
    EXPECT_EQ(left, "a ab abc abcd e ef efg");
  });
}

TEST(ThoughtsStore, CountsOnlyAnswersThatAreRead) {
  with_connection([](Connection& connection) {
    for (const auto* turn : {"a", "b", "c"}) thoughts_store::put(connection, "t", turn, model, thoughts_of(1'000));
    EXPECT_EQ(turns_in(all(connection, 2'400)), "c");
    auto read = thoughts_store::sizes(connection, "t", model);
    read.erase(read.begin());
    EXPECT_EQ(turns_in(thoughts_store::list(connection, read, 2'400)), "bc");
  });
}

TEST(ThoughtsStore, IsBounded) {
  with_connection([](Connection& connection) {
    thoughts_store::put(connection, "t", "0", model, thoughts_of(300'000));
    EXPECT_EQ(turns_in(all(connection, 10'000'000)), "") << "too large for one answer";
    for (const auto* turn : {"a", "b", "c", "d", "e", "f"})
      thoughts_store::put(connection, "t", turn, model, thoughts_of(200'000));
    EXPECT_EQ(turns_in(all(connection, 10'000'000)), "ef");
  });
}

}  // namespace
}  // namespace agw
