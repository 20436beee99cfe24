#include "features/extensions/schemas.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::vector<ExtensionType> all_types() {
  std::vector<ExtensionType> types;
  for (const auto& name : names(Tag<ExtensionType>{})) types.push_back(static_cast<ExtensionType>(name.value));
  return types;
}

/// Calls `visit` with every schema inside `schema`, itself included.
void walk(const json::object& schema, const std::function<void(const json::object&)>& visit) {
  visit(schema);
  if (const auto* properties = schema.if_contains("properties")) {
    for (const auto& property : properties->as_object()) walk(property.value().as_object(), visit);
  }
  for (const auto* word : {"items", "additionalProperties"}) {
    if (const auto* inner = schema.if_contains(word)) walk(inner->as_object(), visit);
  }
  if (const auto* alternatives = schema.if_contains("anyOf")) {
    for (const auto& alternative : alternatives->as_array()) walk(alternative.as_object(), visit);
  }
}

std::string judged(std::string_view schema, std::string_view value) {
  Problems problems;
  validate_by_schema(parse_json(schema)->as_object(), *parse_json(value), "x", problems);
  std::string text;
  for (const auto& problem : problems) text += (text.empty() ? "" : "; ") + problem.message;
  return text;
}

TEST(Schemas, ExistForEveryTypeWithSupportedKeywordsOnly) {
  EXPECT_EQ(all_types().size(), 12u);
  for (const auto type : all_types()) {
    walk(definition_schema(type), [&](const json::object& schema) {
      for (const auto& word : schema) EXPECT_TRUE(is_schema_word(word.key())) << to_text(type) << ": " << word.key();
    });
  }
}

TEST(Schemas, EveryMemberHasATitleAndADescriptionForForms) {
  for (const auto type : all_types()) {
    EXPECT_TRUE(definition_schema(type).contains("description"));
    walk(definition_schema(type), [&](const json::object& schema) {
      const auto* properties = schema.if_contains("properties");
      if (!properties) return;
      for (const auto& property : properties->as_object()) {
        const auto& about = property.value().as_object();
        EXPECT_TRUE(about.contains("title") && about.contains("description")) << to_text(type) << property.key();
      }
    });
  }
}

TEST(Schemas, StateTheTypeOfAValue) {
  EXPECT_EQ(judged(R"({"type":"string"})", R"("a")"), "");
  EXPECT_EQ(judged(R"({"type":"string"})", "1"), "x must be a string");
  EXPECT_EQ(judged(R"({"type":"boolean"})", "0"), "x must be a boolean");
  EXPECT_EQ(judged(R"({"type":["string","object"]})", "true"), "x must be a string or an object");
  EXPECT_EQ(judged(R"({"type":"integer"})", "3.0"), "");
  EXPECT_EQ(judged(R"({"type":"integer"})", "3.5"), "x must be a whole number");
  EXPECT_EQ(judged(R"({"type":"array","items":{"type":"string"}})", R"(["a",1,null])"),
            "x[1] must be a string; x[2] must be a string");
  EXPECT_EQ(judged(R"({"type":"object","additionalProperties":{"type":"string"}})", R"({"a":"b","c":1,"d":null})"),
            "x.c must be a string; x.d must be a string");
}

TEST(Schemas, StateTheAllowedValues) {
  EXPECT_EQ(judged(R"({"type":"string","enum":["a","b"]})", R"("c")"), "x must be one of a, b");
  EXPECT_EQ(judged(R"({"minimum":1,"maximum":2})", "0"), "x must be at least 1");
  EXPECT_EQ(judged(R"({"minimum":1,"maximum":2})", "2.5"), "x must be at most 2");
  EXPECT_EQ(judged(R"({"exclusiveMinimum":0})", "0"), "x must be more than 0");
}

TEST(Schemas, StateTheAllowedNamesOfMembers) {
  const auto* schema = R"({"propertyNames":{"format":"variable-name"},"additionalProperties":{"type":"string"}})";
  EXPECT_EQ(judged(schema, R"({"PATH":"/bin","with-hyphen":""})"), "");
  EXPECT_EQ(judged(schema, R"({"A=B":"c","":"d"})"),
            "x.A=B must be the name of a variable, without =; x. must be the name of a variable, without =");
}

TEST(Schemas, StateMissingMembersAndTreatNullAsMissing) {
  const auto* schema = R"({"required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}})";
  EXPECT_EQ(judged(schema, R"({"b":null,"c":1})"), "x.a is required");
  EXPECT_EQ(judged(schema, R"({"a":null})"), "x.a is required");
  EXPECT_EQ(judged(schema, R"({"a":"1","b":2})"), "x.b must be a string");
  EXPECT_EQ(judged(R"({"anyOf":[{"required":["a"]},{"required":["b"]}]})", "{}"), "x must have one of a, b");
  EXPECT_EQ(judged(R"({"anyOf":[{"required":["a"]},{"required":["b"]}]})", R"({"b":1})"), "");
}

TEST(Schemas, StopCountingProblemsAtAHundred) {
  Problems problems;
  json::array numbers(100'000, 1);
  validate_by_schema({{"items", {{"type", "string"}}}}, numbers, "x", problems);
  EXPECT_EQ(problems.size(), max_problems);
}

TEST(Schemas, RecognizeCssColors) {
  for (const auto* color : {"#fff", "#FFF8", "#1e1e2e", "#1e1e2e80", "red", "currentColor", "RebeccaPurple",
                            "CanvasText", "rgb(1 2 3 / 50%)", "rgba(1,2,3,.5)", "hsl(120deg 50% 50%)",
                            "oklch(0.7 0.1 200)", "var(--accent)", "color-mix(in srgb, var(--a) 50%, white)",
                            "rgb(calc(1 + (2 * 3)) 0 0)", "RGB(1 2 3)", "Color-Mix(in sRGB, RED 50%, Var(--a))"}) {
    EXPECT_TRUE(is_css_color(color)) << color;
  }
  for (const auto* other : {"",
                            "#",
                            "#12",
                            "#12345g",
                            "url(x)",
                            "rgb(url(x))",
                            "rgb(1 2 3",
                            "rgb(1))(2)",
                            "red;",
                            "a b",
                            "rgb(1 2 3);x:expression(1)",
                            "red}body{x:y",
                            "rgb('1')",
                            "expression(1)",
                            "rgb",
                            "inherit",
                            "notacolour",
                            "12",
                            "rgb(\\75rl(x))",
                            "URL(x)",
                            "Url(x)",
                            "rgb(URL(x))",
                            "\\75rl(x)",
                            "\\55 RL(x)",
                            "RGB(Expression(1))",
                            "rgb(url2rgb(1))",
                            "rgb(url_rgb(1))"}) {
    EXPECT_FALSE(is_css_color(other)) << other;
  }
}

}  // namespace
}  // namespace agw
