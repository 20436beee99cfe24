#include "features/integrations/elicitation.hpp"

#include <gtest/gtest.h>

#include "testing/run.hpp"

namespace agw {
namespace {

/// The result for a server, and the question that the person was asked.
struct Elicited {
  std::string result;
  std::optional<PersonQuestion> question;
};

Elicited elicit(std::string_view params, PersonAnswer answer) {
  Elicited found;
  testing::run([&](Loop&) -> Task<> {
    const ToolRun run{};
    StopSource stop;
    const ToolCall call{.id = "one",
                        .run = run,
                        .stop = stop,
                        .ask_person = [&](PersonQuestion question, StopSource&) -> Task<PersonAnswer> {
                          found.question = std::move(question);
                          co_return answer;
                        }};
    found.result = to_json(co_await elicit(call, parse_json(params)->get_object(), stop));
  });
  return found;
}

constexpr auto form = R"({"message": "Who?", "requestedSchema": {"properties": {"name": {"type": "string"}}}})";

TEST(Elicitation, ShowsThePersonAForm) {
  const auto found = elicit(form, {PersonAnswer::Kind::answered, json::object{{"name", "Ann"}}});
  EXPECT_EQ(found.result, R"({"action":"accept","content":{"name":"Ann"}})");
  ASSERT_TRUE(found.question);
  EXPECT_EQ(found.question->question, "Who?");
  EXPECT_EQ(found.question->form->at("type").as_string(), "object");
}

TEST(Elicitation, ContainsOnlyThePersonsAnswers) {
  EXPECT_EQ(elicit(form, {PersonAnswer::Kind::declined}).result, R"({"action":"decline"})");
  EXPECT_EQ(elicit(form, {PersonAnswer::Kind::unanswered}).result, R"({"action":"cancel"})");
}

TEST(Elicitation, AsksOnlyWithAValidForm) {
  for (const auto* params :
       {"{}", R"({"requestedSchema": []})", R"({"mode": "url", "url": "https://example.org/login"})"}) {
    const auto found = elicit(params, {PersonAnswer::Kind::answered, json::object()});
    EXPECT_EQ(found.result, R"({"action":"decline"})") << params;
    EXPECT_FALSE(found.question) << params;
  }
}

}  // namespace
}  // namespace agw
