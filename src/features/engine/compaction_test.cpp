#include "features/engine/compaction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Turn turn(Role role, std::string content) {
  Turn made;
  made.id = content;
  made.role = role;
  made.content = std::move(content);
  return made;
}

TEST(TakeOlder, LeavesTheNewestThatFit) {
  std::vector<Turn> turns{turn(Role::user, "11111"), turn(Role::assistant, "22222"), turn(Role::user, "33333")};
  EXPECT_EQ(take_older(turns, 10).size(), 1u);
  EXPECT_EQ(turns.front().content, "22222");
  EXPECT_EQ(take_older(turns, 0).size(), 1u) << "the last stays";
  EXPECT_EQ(turns.size(), 1u);
  EXPECT_TRUE(take_older(turns, 100).empty());
}

TEST(PlainSummary, SaysHowMessagesBegin) {
  const auto text = plain_summary("", {turn(Role::user, "  I like otters.\nAnd more."), turn(Role::tool, "noise"),
                                       turn(Role::assistant, "So do I.")});
  EXPECT_EQ(text, "- user: I like otters.\n- assistant: So do I.\n");
  EXPECT_THAT(plain_summary(text, {turn(Role::user, "Go on.")}), HasSubstr("otters"));
}

TEST(SummaryRequest, HoldsTheNewestOfWhatIsTooMuch) {
  std::vector<Turn> turns;
  for (int i = 0; i < 100; ++i) turns.push_back(turn(Role::user, "turn " + std::to_string(i)));
  const auto text = summary_request("before that", turns, 200).messages.front().text;
  EXPECT_THAT(text, HasSubstr("before that"));
  EXPECT_THAT(text, HasSubstr("turn 99"));
  EXPECT_THAT(text, Not(HasSubstr("turn 1\n")));
}

TEST(ShortenResults, BeginsWithTheOldest) {
  Message old_result;
  old_result.role = Message::Role::tool;
  old_result.text = std::string(10'000, 'a');
  auto new_result = old_result;
  new_result.text = std::string(10'000, 'b');
  std::vector<Message> messages{Message{}, old_result, new_result};
  EXPECT_FALSE(shorten_results(messages, 100'000));
  EXPECT_TRUE(shorten_results(messages, 15'000));
  EXPECT_LT(messages[1].text.size(), 1'000u);
  EXPECT_EQ(messages[2].text.size(), 10'000u);
}

}  // namespace
}  // namespace agw
