#include "features/access/pairing.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using namespace std::chrono_literals;
using PairingVerdict = Pairing::Verdict;

constexpr Pairing::Moment start = 1h;

class PairingTest : public ::testing::Test {
protected:
  /// A code that differs from the right one.
  static std::string wrong(std::string code) {
    code.back() = code.back() == '0' ? '1' : '0';
    return code;
  }

  void fail(int times, Pairing::Moment now) {
    for (int i = 0; i < times; ++i) EXPECT_EQ(pairing_.judge("", now), PairingVerdict::wrong);
  }

  Pairing pairing_;
};

TEST_F(PairingTest, ACodeIsSixDigitsAndNoTwoAreAlike) {
  std::set<std::string> codes;
  for (int i = 0; i < 50; ++i) {
    const auto code = pairing_.new_code(start);
    EXPECT_THAT(code, ::testing::MatchesRegex("[0-9][0-9][0-9][0-9][0-9][0-9]"));
    codes.insert(code);
  }
  EXPECT_GT(codes.size(), 45u);
}

TEST_F(PairingTest, ACodePairsOneDevice) {
  const auto code = pairing_.new_code(start);
  EXPECT_EQ(pairing_.judge(code, start), PairingVerdict::right);
  EXPECT_EQ(pairing_.judge(code, start), PairingVerdict::wrong);
}

TEST_F(PairingTest, ANewCodeVoidsTheOneBefore) {
  const auto first = pairing_.new_code(start);
  const auto second = pairing_.new_code(start);
  EXPECT_EQ(pairing_.judge(first, start), PairingVerdict::wrong);
  EXPECT_EQ(pairing_.judge(second, start), PairingVerdict::right);
}

TEST_F(PairingTest, ACodeIsValidForTenMinutes) {
  auto code = pairing_.new_code(start);
  EXPECT_EQ(pairing_.judge(code, start + 10min - 1ms), PairingVerdict::right);
  code = pairing_.new_code(start);
  EXPECT_EQ(pairing_.judge(code, start + 10min), PairingVerdict::wrong);
}

TEST_F(PairingTest, AVoidedCodePairsNoDevice) {
  const auto code = pairing_.new_code(start);
  pairing_.void_code();
  EXPECT_EQ(pairing_.judge(code, start), PairingVerdict::wrong);
}

TEST_F(PairingTest, OtherTextsAreWrong) {
  const auto code = pairing_.new_code(start);
  EXPECT_EQ(pairing_.judge("", start), PairingVerdict::wrong);
  EXPECT_EQ(pairing_.judge(code + "0", start), PairingVerdict::wrong);
  EXPECT_EQ(pairing_.judge(code.substr(1), start), PairingVerdict::wrong);
  EXPECT_EQ(pairing_.judge(wrong(code), start), PairingVerdict::wrong);
}

TEST_F(PairingTest, FiveWrongCodesWithinAMinuteLockItForTheRightOneToo) {
  const auto code = pairing_.new_code(start);
  fail(5, start);
  EXPECT_TRUE(pairing_.locked(start));
  EXPECT_EQ(pairing_.judge(code, start), PairingVerdict::locked);
}

TEST_F(PairingTest, TheLockEndsAMinuteAfterTheLastFailure) {
  const auto code = pairing_.new_code(start);
  fail(4, start);
  fail(1, start + 59s);
  EXPECT_EQ(pairing_.judge(code, start + 119s - 1ms), PairingVerdict::locked);
  EXPECT_FALSE(pairing_.locked(start + 119s));
  EXPECT_EQ(pairing_.judge(code, start + 119s), PairingVerdict::right);
}

TEST_F(PairingTest, AttemptsDuringALockDoNotProlongIt) {
  const auto code = pairing_.new_code(start);
  fail(5, start);
  EXPECT_EQ(pairing_.judge("", start + 59s), PairingVerdict::locked);
  EXPECT_EQ(pairing_.judge(code, start + 60s), PairingVerdict::right);
}

TEST_F(PairingTest, FiveFailuresSpreadOverMoreThanAMinuteDoNotLockIt) {
  for (auto now = start; now < start + 10min; now += 15s) EXPECT_EQ(pairing_.judge("", now), PairingVerdict::wrong);
}

TEST_F(PairingTest, AfterTheLockFiveFailuresAreFreeAgain) {
  fail(5, start);
  fail(5, start + 60s);
  EXPECT_TRUE(pairing_.locked(start + 60s));
}

TEST_F(PairingTest, ARightCodeClearsTheCount) {
  fail(4, start);
  EXPECT_EQ(pairing_.judge(pairing_.new_code(start), start), PairingVerdict::right);
  fail(5, start);
}

}  // namespace
}  // namespace agw
