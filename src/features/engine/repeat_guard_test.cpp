#include "features/engine/repeat_guard.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

ToolUse use(std::string name, int input) {
  ToolUse made;
  made.name = std::move(name);
  made.input = {{"n", input}};
  return made;
}

TEST(RepeatGuard, NoticesTheSameCallThreeTimesInARow) {
  RepeatGuard guard;
  EXPECT_FALSE(guard.problem({use("Read", 1), use("Read", 1)}));
  EXPECT_FALSE(guard.problem({use("Read", 2)}));
  EXPECT_FALSE(guard.problem({use("Read", 2)}));
  EXPECT_FALSE(guard.problem({use("Grep", 2)}));
  EXPECT_FALSE(guard.problem({use("Read", 2)}));
  EXPECT_FALSE(guard.problem({use("Read", 2)}));
  EXPECT_EQ(guard.problem({use("Read", 2)}), "the model called Read three times in a row with the same input");
}

}  // namespace
}  // namespace agw
