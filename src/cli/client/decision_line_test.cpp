#include "cli/client/decision_line.hpp"

#include <gtest/gtest.h>

namespace agw::cli {
namespace {

json::object request(std::string_view scopes, bool can_propose = false) {
  auto made = parse_json("{\"scopes\": " + std::string(scopes) + "}")->get_object();
  made["can_propose"] = can_propose;
  return made;
}

std::string meant(std::string_view line, const json::object& of) {
  const auto decision = decision_in(line, of);
  return decision ? to_json(*decision) : "nothing";
}

TEST(DecisionLine, NamesOnlyPossibleDecisions) {
  EXPECT_EQ(choices_of(request(R"(["once", "thread"])", true)), "[y]es, [t]hread, [p]ropose, [n]o");
  EXPECT_EQ(choices_of(request(R"(["once"])")), "[y]es, [n]o");
}

TEST(DecisionLine, TakesLettersAndWords) {
  const auto all = request(R"(["once", "thread"])", true);
  for (const auto* line : {"y", " Yes ", "YES"})
    EXPECT_EQ(meant(line, all), R"({"decision":"allow","scope":"once"})") << line;
  EXPECT_EQ(meant("t", all), R"({"decision":"allow","scope":"thread"})");
  EXPECT_EQ(meant("propose", all), R"({"decision":"propose"})");
  EXPECT_EQ(meant("n", all), R"({"decision":"deny"})");
  EXPECT_EQ(meant("no, use the calendar", all), R"({"decision":"deny","reason":"use the calendar"})");
}

TEST(DecisionLine, AcceptsNothingElseAsAYes) {
  const auto once = request(R"(["once"])");
  for (const auto* line : {"", "yeah", "yes but not now", "y y", "ja", "t", "p", "es"})
    EXPECT_EQ(meant(line, once), "nothing") << line;
}

TEST(FormValue, HasTheTypeOfItsMember) {
  const auto value = [](std::string_view line, std::string_view member) {
    const auto typed = form_value(line, parse_json(member)->get_object());
    return typed ? to_json(*typed) : "nothing";
  };
  EXPECT_EQ(value("yes", R"({"type": "boolean"})"), "true");
  EXPECT_EQ(value("maybe", R"({"type": "boolean"})"), "nothing");
  EXPECT_EQ(value("12", R"({"type": "integer"})"), "12");
  EXPECT_EQ(value("1.5", R"({"type": "integer"})"), "nothing");
  EXPECT_EQ(value("12", R"({"type": "string"})"), R"("12")");
  EXPECT_EQ(value("red", R"({"type": "string", "enum": ["red"]})"), R"("red")");
  EXPECT_EQ(value("blue", R"({"type": "string", "enum": ["red"]})"), "nothing");
  EXPECT_EQ(value("a, b", R"({"type": "array"})"), R"(["a","b"])");
}

}  // namespace
}  // namespace agw::cli
