#include "base/async/assert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

#ifdef NDEBUG

TEST(Assert, IsNotEvaluatedInARelease) {
  bool evaluated = false;
  AGW_ASSERT((evaluated = true));
  EXPECT_FALSE(evaluated);
}

#else

TEST(AssertDeathTest, NamesTheConditionThatDoesNotHold) {
  const int count = 2;
  AGW_ASSERT(count == 2);
  EXPECT_DEATH(AGW_ASSERT(count == 3), "assert_test.cpp:[0-9]+: assertion failed in .*: count == 3");
}

TEST(ThreadChecker, KnowsTheThreadThatMadeIt) {
  const ThreadChecker checker;
  EXPECT_TRUE(checker.is_current());
  bool elsewhere = true;
  std::thread([&] { elsewhere = checker.is_current(); }).join();
  EXPECT_FALSE(elsewhere);
}

#endif

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
