#include "features/context/thoughts_store.hpp"

#include <functional>
#include <set>
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

const std::set<std::string> all{"0", "a", "b", "c", "d", "e", "f", "g"};

std::string turns_in(Connection& connection, std::size_t limit, const std::string& by = model,
                     const std::set<std::string>& read = all) {
  std::string turns;
  for (const auto& [turn, thoughts] : thoughts_store::list(connection, "t", by, read, limit).answers) turns += turn;
  return turns;
}

TEST(ThoughtsStore, HasWhatWasStored) {
  with_connection([](Connection& connection) {
    thoughts_store::put(connection, "t", "a", model, thoughts_of(3));
    const auto found = thoughts_store::list(connection, "t", model, all, 1'000);
    const auto& thoughts = found.answers.at("a").at(0);
    EXPECT_EQ(thoughts.step, 2);
    EXPECT_EQ(thoughts.model, model);
    EXPECT_EQ(to_json(thoughts.blocks), R"([{"thinking":"xxx"}])");
    thoughts_store::forget(connection, "t");
    EXPECT_EQ(turns_in(connection, 1'000), "");
  });
}

TEST(ThoughtsStore, DropsThoughtsOnceAnotherModelHasAnswered) {
  with_connection([](Connection& connection) {
    thoughts_store::put(connection, "t", "a", model, thoughts_of(3));
    thoughts_store::put(connection, "t", "b", "another/model", {});
    EXPECT_EQ(turns_in(connection, 1'000), "");
  });
}

TEST(ThoughtsStore, LeavesOutTheOldestInLargePieces) {
  with_connection([](Connection& connection) {
    std::string left;
    for (const auto* turn : {"a", "b", "c", "d", "e", "f", "g"}) {
      thoughts_store::put(connection, "t", turn, model, thoughts_of(1'000));
      left += (left.empty() ? "" : " ") + turns_in(connection, 4'400);
    }
    EXPECT_EQ(left, "a ab abc abcd e ef efg");
  });
}

TEST(ThoughtsStore, CountsOnlyAnswersThatAreRead) {
  with_connection([](Connection& connection) {
    for (const auto* turn : {"a", "b", "c"}) thoughts_store::put(connection, "t", turn, model, thoughts_of(1'000));
    EXPECT_EQ(turns_in(connection, 2'400), "c");
    EXPECT_EQ(turns_in(connection, 2'400, model, {"b", "c"}), "bc");
  });
}

TEST(ThoughtsStore, IsBounded) {
  with_connection([](Connection& connection) {
    thoughts_store::put(connection, "t", "0", model, thoughts_of(300'000));
    EXPECT_EQ(turns_in(connection, 10'000'000), "") << "too large for one answer";
    for (const auto* turn : {"a", "b", "c", "d", "e", "f"})
      thoughts_store::put(connection, "t", turn, model, thoughts_of(200'000));
    EXPECT_EQ(turns_in(connection, 10'000'000), "ef");
  });
}

}  // namespace
}  // namespace agw
