#include "features/context/compaction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Turn turn(Role role, std::string content) {
  Turn made;
  made.id = content;
  made.role = role;
  made.content = std::move(content);
  return made;
}

TEST(RemoveOldest, LeavesTheNewestThatFit) {
  std::vector<Turn> turns{turn(Role::user, "11111"), turn(Role::assistant, "22222"), turn(Role::user, "33333")};
  EXPECT_EQ(remove_oldest(turns, 10).size(), 1u);
  EXPECT_EQ(turns.front().content, "22222");
  EXPECT_EQ(remove_oldest(turns, 0).size(), 1u) << "the last stays";
  EXPECT_EQ(turns.size(), 1u);
  EXPECT_TRUE(remove_oldest(turns, 100).empty());
}

TEST(PlainSummary, QuotesTheFirstLines) {
  const auto text = plain_summary("", {turn(Role::user, "  I like otters.\nAnd more."), turn(Role::tool, "noise"),
                                       turn(Role::assistant, "So do I.")});
  EXPECT_EQ(text, "- user: I like otters.\n- assistant: So do I.\n");
  EXPECT_THAT(plain_summary(text, {turn(Role::user, "Go on.")}), HasSubstr("otters"));
}

TEST(SummaryRequest, ContainsTheNewestTurnsThatFit) {
  std::vector<Turn> turns;
  for (int i = 0; i < 100; ++i) turns.push_back(turn(Role::user, "turn " + std::to_string(i)));
  const auto text = summary_request("before that", turns, 200).messages.front().text;
  EXPECT_THAT(text, HasSubstr("before that"));
  EXPECT_THAT(text, HasSubstr("turn 99"));
  EXPECT_THAT(text, Not(HasSubstr("turn 1\n")));
}

TEST(ShortenResults, StartsWithTheOldest) {
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

Message asking() {
  Message message;
  message.role = Message::Role::assistant;
  return message;
}

Message result(std::string text) {
  Message message;
  message.role = Message::Role::tool;
  message.text = std::move(text);
  return message;
}

TEST(ShortenResults, ShortensTheLastStepOnlyAsFarAsNeeded) {
  std::vector<Message> messages{Message{}, asking(), result(std::string(10'000, 'a')), asking(),
                                result("first" + std::string(100'000, 'b') + "last")};
  EXPECT_TRUE(shorten_results(messages, 20'000));
  EXPECT_LT(messages[2].text.size(), 700u);
  const auto& newest = messages[4].text;
  EXPECT_THAT(newest, StartsWith("firstbbb"));
  EXPECT_THAT(newest, EndsWith("bbblast"));
  EXPECT_THAT(newest, HasSubstr("bytes were left out"));
  EXPECT_THAT(newest, HasSubstr("offset and limit"));
  EXPECT_GT(newest.size(), 18'000u);
  EXPECT_LE(messages[2].text.size() + newest.size(), 20'000u);
}

TEST(ShortenResults, LeavesTheLastStepWholeIfEarlierOnesSuffice) {
  std::vector<Message> messages{asking(), result(std::string(10'000, 'a')), asking(), result(std::string(9'000, 'b'))};
  EXPECT_TRUE(shorten_results(messages, 10'000));
  EXPECT_EQ(messages[3].text, std::string(9'000, 'b'));
}

TEST(ShortenResults, SharesTheSpaceFairly) {
  std::vector<Message> messages{asking(), result(std::string(50'000, 'a')), result(std::string(1'000, 'b')),
                                result(std::string(20'000, 'c'))};
  EXPECT_TRUE(shorten_results(messages, 11'000));
  EXPECT_EQ(messages[2].text.size(), 1'000u);
  EXPECT_EQ(messages[1].text.size(), messages[3].text.size());
  EXPECT_GT(messages[1].text.size(), 4'800u);
  EXPECT_LE(messages[1].text.size(), 5'000u);
}

TEST(ShortenResults, ReportsHowManyBytesAreMissing) {
  std::vector<Message> messages{asking(), result(std::string(50'000, 'a'))};
  shorten_results(messages, 5'000);
  EXPECT_THAT(messages[1].text, HasSubstr("\n[45240 bytes were left out here"));
}

TEST(ShortenResults, CutsBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "€";
  for (const std::size_t budget : {5'000u, 5'001u, 5'002u}) {
    std::vector<Message> messages{asking(), result(text)};
    shorten_results(messages, budget);
    EXPECT_TRUE(is_utf8(messages[1].text));
  }
}

TEST(ShortenResults, KeepsSomethingEvenWithoutSpace) {
  Message question;
  question.text = std::string(5'000, 'q');
  std::vector<Message> messages{question, asking(), result(std::string(5'000, 'a')), result("short")};
  EXPECT_TRUE(shorten_results(messages, 1'000));
  EXPECT_THAT(messages[2].text, StartsWith("aaaa"));
  EXPECT_LT(messages[2].text.size(), 700u);
  EXPECT_EQ(messages[3].text, "short");
}

}  // namespace
}  // namespace agw
