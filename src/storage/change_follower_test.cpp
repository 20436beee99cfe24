#include "storage/change_follower.hpp"

#include <gmock/gmock.h>

#include "storage/connection.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using ::testing::ElementsAre;
using testing::run;
using Keys = std::vector<std::string>;

class ChangeFollowerTest : public ::testing::Test {
protected:
  /// Records its arguments and fails the first `failures` times.
  Task<> note(Keys keys) {
    given_.push_back(std::move(keys));
    if (failures_-- > 0) throw DatabaseError(1, "the server is away");
    co_return;
  }

  std::vector<Keys> given_;
  int failures_ = 0;
};

TEST_F(ChangeFollowerTest, PassesEachTopicItsKeysOnce) {
  run([this](Loop& loop) -> Task<> {
    ChangeFollower follower(loop);
    follower.follow("extensions", [this](Keys keys) { return note(std::move(keys)); });
    follower.take({{"extensions", "a"}, {"extensions", "b"}, {"others", "x"}, {"extensions", "a"}});
    while (given_.empty()) co_await asio::post(loop, asio::use_awaitable);
    co_await follower.stop();
    EXPECT_THAT(given_, ElementsAre(ElementsAre("a", "b")));
  });
}

TEST_F(ChangeFollowerTest, RetriesFailures) {
  failures_ = 1;
  run([this](Loop& loop) -> Task<> {
    ChangeFollower follower(loop);
    follower.follow("grants", [this](Keys keys) { return note(std::move(keys)); });
    follower.take({{"grants", "a"}});
    while (given_.size() < 2) co_await asio::post(loop, asio::use_awaitable);
    co_await follower.stop();
    EXPECT_THAT(given_, ElementsAre(ElementsAre("a"), ElementsAre("a")));
  });
}

TEST_F(ChangeFollowerTest, IgnoresChangesOnceStopped) {
  run([this](Loop& loop) -> Task<> {
    ChangeFollower follower(loop);
    follower.follow("grants", [this](Keys keys) { return note(std::move(keys)); });
    co_await follower.stop();
    follower.take({{"grants", "a"}});
    EXPECT_TRUE(given_.empty());
  });
}

}  // namespace
}  // namespace agw
