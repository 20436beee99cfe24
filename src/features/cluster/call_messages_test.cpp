#include "features/cluster/call_messages.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(CallMessagesTest, OutcomesArriveAsTheyWere) {
  ToolOutcome outcome{.output = "it is \"red\"\n", .is_error = true};
  outcome.images.push_back({.mime = "image/png", .bytes = std::string("\0\xff\x89PNG", 6), .detail = "low"});
  const auto arrived = outcome_in(content_of(outcome));
  EXPECT_EQ(arrived.output, outcome.output);
  EXPECT_TRUE(arrived.is_error);
  ASSERT_EQ(arrived.images.size(), 1u);
  EXPECT_EQ(arrived.images[0].mime, "image/png");
  EXPECT_EQ(arrived.images[0].bytes, outcome.images[0].bytes);
  EXPECT_EQ(arrived.images[0].detail, "low");
}

TEST(CallMessagesTest, QuestionsArriveAsTheyWere) {
  const auto with_form = question_in(content_of(PersonQuestion{.question = "Which?", .form = json::object{{"a", 1}}}));
  EXPECT_EQ(with_form.question, "Which?");
  ASSERT_TRUE(with_form.form);
  EXPECT_EQ(to_json(*with_form.form), R"({"a":1})");
  const auto with_options = question_in(content_of(PersonQuestion{.question = "Which?", .options = {"one", "two"}}));
  EXPECT_EQ(with_options.options, (std::vector<std::string>{"one", "two"}));
  EXPECT_FALSE(with_options.form);
}

TEST(CallMessagesTest, AnswersArriveAsTheyWere) {
  using Kind = PersonAnswer::Kind;
  for (const auto kind : {Kind::answered, Kind::declined, Kind::unanswered}) {
    const auto arrived =
        answer_in(content_of(PersonAnswer{.kind = kind, .answer = json::object{{"b", true}}, .reason = "so"}));
    EXPECT_EQ(arrived.kind, kind);
    EXPECT_EQ(to_json(arrived.answer), R"({"b":true})");
    EXPECT_EQ(arrived.reason, "so");
  }
}

}  // namespace
}  // namespace agw
