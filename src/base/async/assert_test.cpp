#include "base/async/assert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(AssertDeathTest, NamesThePlaceAndTheCondition) {
  const int count = 2;
  AGW_ASSERT(count == 2);
#ifdef NDEBUG
  EXPECT_DEATH(AGW_ASSERT(count == 3), "src/base/async/assert_test.cpp:[0-9]+\n");
#else
  EXPECT_DEATH(AGW_ASSERT(count == 3), "src/base/async/assert_test.cpp:[0-9]+: count == 3\n");
#endif
}

TEST(DebugAssertDeathTest, IsEvaluatedOnlyInBuildsForDevelopment) {
  bool evaluated = false;
  AGW_DEBUG_ASSERT((evaluated = true));
#ifdef NDEBUG
  EXPECT_FALSE(evaluated);
#else
  EXPECT_TRUE(evaluated);
  EXPECT_DEATH(AGW_DEBUG_ASSERT(!evaluated), "assert_test.cpp:[0-9]+: !evaluated");
#endif
}

TEST(ThreadChecker, KnowsTheThreadThatCreatedIt) {
  const ThreadChecker checker;
  EXPECT_TRUE(checker.is_current());
  bool elsewhere = true;
  std::thread([&] { elsewhere = checker.is_current(); }).join();
  EXPECT_FALSE(elsewhere);
}

TEST(Check, ThrowsTheCauseAndThePlace) {
  const int count = 2;
  AGW_CHECK(count == 2, "not evaluated");
  try {
    AGW_CHECK(count == 3, "there are " + std::to_string(count));
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::ContainsRegex("^there are 2 .*assert_test.cpp:[0-9]+.$"));
  }
}

TEST(DisallowBlocking, HoldsForItsOwnThreadWhileItLives) {
  {
    const DisallowBlocking scope;
    EXPECT_FALSE(may_block());
    bool elsewhere = false;
    std::thread([&] { elsewhere = may_block(); }).join();
    EXPECT_TRUE(elsewhere);
  }
  EXPECT_TRUE(may_block());
}

}  // namespace
}  // namespace agw
