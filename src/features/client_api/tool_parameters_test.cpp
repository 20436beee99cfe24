#include "features/client_api/tool_parameters.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/error.hpp"
#include "base/json/json.hpp"

namespace agw {
namespace {

bool is_accepted(const std::string& text) {
  const auto schema = parse_json(text, {.max_depth = 1'000});
  EXPECT_TRUE(schema) << text;
  try {
    tool_schema(&*schema, "parameters");
    return true;
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 400);
    return false;
  }
}

TEST(ToolSchema, MayReferToItselfForPartsOfAValue) {
  EXPECT_TRUE(is_accepted(R"({"properties": {"next": {"$ref": "#"}}})"));
  EXPECT_TRUE(is_accepted(R"({"$defs": {"any": {"anyOf": [{"type": "string"}, {"items": {"$ref": "#/$defs/any"}}]}},
      "allOf": [{"$ref": "#/$defs/any"}, {"$ref": "#/$defs/any"}]})"));
  EXPECT_TRUE(is_accepted(R"({"properties": {"if": {"$ref": "#"}, "allOf": {"type": "array"}}, "$ref": "#/nowhere"})"));
}

TEST(ToolSchema, MustNotLeadBackToItselfForTheSameValue) {
  EXPECT_FALSE(is_accepted(R"({"$ref": "#"})"));
  EXPECT_FALSE(is_accepted(R"({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})"));
  for (const auto* name : {"allOf", "anyOf", "oneOf"})
    EXPECT_FALSE(
        is_accepted(fmt::format(R"({{"properties": {{"a": {{"{}": [{{}}, {{"$ref": "#/properties/a"}}]}}}}}})", name)));
  for (const auto* name : {"not", "if", "then", "else"})
    EXPECT_FALSE(is_accepted(fmt::format(R"({{"{}": {{"$ref": "#"}}}})", name)));
}

TEST(ToolSchema, MayReferToManyOthers) {
  std::string definitions = R"("d0": {})";
  for (int i = 1; i < 20'000; ++i)
    definitions += fmt::format(R"(, "d{}": {{"anyOf": [{{"$ref": "#/$defs/d{}"}}]}})", i, i / 2);
  EXPECT_TRUE(is_accepted(fmt::format(R"({{"$defs": {{{}}}}})", definitions)));
}

TEST(ToolSchema, MustNotLeadThroughTooManyOthers) {
  std::string definitions = R"("d0": {})";
  for (int i = 1; i < 20'000; ++i) definitions += fmt::format(R"(, "d{}": {{"$ref": "#/$defs/d{}"}})", i, i - 1);
  EXPECT_FALSE(is_accepted(fmt::format(R"({{"$ref": "#/$defs/d19999", "$defs": {{{}}}}})", definitions)));
}

}  // namespace
}  // namespace agw
