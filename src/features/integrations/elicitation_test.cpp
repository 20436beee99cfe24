#include "features/integrations/elicitation.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string answer_to(std::string_view params) { return to_json(elicited(parse_json(params)->get_object())); }

TEST(Elicitation, AcceptsAFormAsTheServerFilledItIn) {
  EXPECT_EQ(answer_to(R"({"message": "Who?", "requestedSchema": {"type": "object", "required": ["name"], "properties":
      {"name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30},
       "note": {"type": "string"}}}})"),
            R"({"action":"accept","content":{"name":"John Doe","age":30}})");
}

TEST(Elicitation, SaysNothingThatTheServerDidNotSay) {
  constexpr auto declined = R"({"action":"decline"})";
  EXPECT_EQ(answer_to(R"({"requestedSchema": {"required": ["password"], "properties":
      {"password": {"type": "string"}, "name": {"type": "string", "default": "x"}}}})"),
            declined);
  EXPECT_EQ(answer_to(R"({"message": "Delete all?", "requestedSchema": {"type": "object", "properties": {}}})"),
            declined);
  EXPECT_EQ(answer_to(R"({"mode": "url", "url": "https://example.org/login"})"), declined);
  for (const auto* hostile : {"{}", R"({"requestedSchema": []})", R"({"requestedSchema": {"properties": 1}})",
                              R"({"requestedSchema": {"properties": {"a": 1}, "required": "a"}})"}) {
    EXPECT_EQ(answer_to(hostile), declined) << hostile;
  }
}

}  // namespace
}  // namespace agw
