#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tools/input.hpp"

namespace agw {
namespace {

std::optional<std::string> problem(std::string_view schema, std::string_view input) {
  return input_problem(parse_json(schema).value(), parse_json(input).value().as_object());
}

constexpr auto file_schema =
    R"({"type": "object", "properties": {"path": {"type": "string", "minLength": 1}, "limit": {"type": "integer",
        "minimum": 1}, "kind": {"enum": ["a", "b"]}}, "required": ["path"], "additionalProperties": false})";

TEST(InputProblem, AcceptsMatchingInput) {
  EXPECT_FALSE(problem(file_schema, R"({"path": "a.txt"})"));
  EXPECT_FALSE(problem(file_schema, R"({"path": "a.txt", "limit": 3.0, "kind": "b"})"));
  EXPECT_FALSE(problem("{}", R"({"anything": [1, {"x": null}]})"));
  EXPECT_FALSE(problem("true", "{}"));
}

TEST(InputProblem, ReportsMismatches) {
  EXPECT_EQ(problem(file_schema, "{}"), "path is required");
  EXPECT_EQ(problem(file_schema, R"({"path": 5})"), "path must be of type string");
  EXPECT_EQ(problem(file_schema, R"({"path": ""})"), "path must have at least 1 characters");
  EXPECT_EQ(problem(file_schema, R"({"path": "a", "limit": 1.5})"), "limit must be of type integer");
  EXPECT_EQ(problem(file_schema, R"({"path": "a", "limit": 0})"), "limit must be at least 1");
  EXPECT_EQ(problem(file_schema, R"({"path": "a", "kind": "c"})"), R"(kind must be one of ["a","b"])");
  EXPECT_EQ(problem(file_schema, R"({"path": "a", "other": 1})"), "other is not a member of this tool's input");
}

TEST(CorrectInput, KeepsWhatTheSchemaAllows) {
  const auto schema = parse_json(R"({"properties": {"path": {"type": "string"}, "limit": {"type": "integer"},
      "kind": {"enum": ["a", null]}, "note": {}, "name": {"type": ["string", "null"]}}, "required": ["path"]})")
                          .value();
  const auto kept = [&](std::string_view text) {
    auto input = parse_json(text).value().as_object();
    correct_input(input, schema);
    return to_json(input);
  };
  EXPECT_EQ(kept(R"({"path":"a","limit":3})"), R"({"path":"a","limit":3})");
  EXPECT_EQ(kept(R"({"limit":null,"path":"a","name":null})"), R"({"path":"a","name":null})");
  constexpr auto allowed = R"({"path":null,"kind":null,"note":null,"name":null,"other":null})";
  EXPECT_EQ(kept(allowed), allowed);
}

TEST(CorrectInput, ParsesJsonInAStringIfTheSchemaRequiresIts) {
  const auto schema =
      parse_json(R"({"properties": {"text": {"type": "string"}, "limit": {"type": "integer", "minimum": 1},
      "all": {"type": "boolean"}, "list": {"type": "array", "items": {"type": "string"}}, "any": {}}})")
          .value();
  const auto corrected = [&](std::string_view text) {
    auto input = parse_json(text).value().as_object();
    correct_input(input, schema);
    return to_json(input);
  };
  EXPECT_EQ(corrected(R"({"limit":"5","all":"true","list":"[\"a\"]"})"), R"({"limit":5,"all":true,"list":["a"]})");
  for (const auto* unchanged : {R"({"text":"5","any":"5","other":"5"})", R"({"limit":"0"})", R"({"limit":"5 lines"})",
                                R"({"limit":"1.5"})", R"({"list":"[1]"})", R"({"list":"a"})", R"({"text":5})"}) {
    EXPECT_EQ(corrected(unchanged), unchanged);
  }
}

TEST(InputProblem, TakesMultiplesOfStepsThatAreNotExact) {
  constexpr auto cents = R"({"properties": {"x": {"multipleOf": 0.01}}})";
  for (const auto* input : {"19.99", "0.3", "5", "0", "-4.35", "1.1", "1e300", "123456789.01"}) {
    EXPECT_FALSE(problem(cents, fmt::format(R"({{"x": {}}})", input))) << input;
  }
  for (const auto* input : {"19.995", "0.001", "123456789.011"}) {
    EXPECT_EQ(problem(cents, fmt::format(R"({{"x": {}}})", input)), "x must be a multiple of 0.01") << input;
  }
  EXPECT_FALSE(problem(R"({"properties": {"x": {"multipleOf": 2}}})", R"({"x": 4.0})"));
  EXPECT_TRUE(problem(R"({"properties": {"x": {"multipleOf": 2}}})", R"({"x": 5})"));
  EXPECT_TRUE(problem(R"({"properties": {"x": {"multipleOf": 1e-308}}})", R"({"x": 1e308})"));
}

TEST(InputProblem, ComparesNumbersByValue) {
  constexpr auto schema = R"({"properties": {"x": {"enum": [1, 2.0, [3], {"a": 4.0, "b": 5}]}, "y": {"const": 1}}})";
  for (const auto* input : {R"({"x": 2})", R"({"x": 1.0})", R"({"x": [3.0]})", R"({"x": {"b": 5.0, "a": 4}})",
                            R"({"y": 1.0})", R"({"y": 1})"}) {
    EXPECT_FALSE(problem(schema, input)) << input;
  }
  for (const auto* input :
       {R"({"x": 3})", R"({"x": "1"})", R"({"x": [3, 3]})", R"({"x": {"a": 4}})", R"({"y": true})", R"({"y": 1.5})"}) {
    EXPECT_TRUE(problem(schema, input)) << input;
  }
}

TEST(InputProblem, NamesThePlace) {
  EXPECT_EQ(problem(R"({"properties": {"list": {"items": {"properties": {"n": {"type": "number"}}}}}})",
                    R"({"list": [{"n": 1}, {"n": "x"}]})"),
            "list[1].n must be of type number");
}

TEST(InputProblem, CombinesSchemas) {
  constexpr auto either = R"({"properties": {"x": {"anyOf": [{"type": "string"}, {"type": "null"}]}}})";
  EXPECT_FALSE(problem(either, R"({"x": null})"));
  EXPECT_TRUE(problem(either, R"({"x": 1})"));
  EXPECT_TRUE(problem(R"({"properties": {"x": {"not": {"const": 1}}}})", R"({"x": 1})"));
  EXPECT_TRUE(problem(R"({"oneOf": [{}, {"required": ["a"]}]})", R"({"a": 1})"));
}

TEST(InputProblem, FollowsReferencesWithinTheSchema) {
  constexpr auto schema = R"({"properties": {"x": {"$ref": "#/$defs/name"}}, "$defs": {"name": {"type": "string"}}})";
  EXPECT_FALSE(problem(schema, R"({"x": "a"})"));
  EXPECT_EQ(problem(schema, R"({"x": 1})"), "x must be of type string");
}

TEST(InputProblem, ATreeOfReferencesEndsWithItsInput) {
  constexpr auto tree = R"({"properties": {"child": {"$ref": "#"}, "next": {"$ref": "#/properties/name"},
                            "name": {"type": "string"}}})";
  EXPECT_FALSE(problem(tree, R"({"name": "a", "next": "b"})"));
}

TEST(InputProblem, PassesOnWhatItCannotRead) {
  for (const auto* schema : {R"({"$ref": "#"})", R"({"$ref": "http://127.0.0.1/schema"})", R"({"$ref": "#/nowhere"})",
                             R"({"allOf": [{"$ref": "#/allOf/0"}]})", R"({"type": 5})", R"("text")", "[]"}) {
    EXPECT_FALSE(problem(schema, R"({"a": 1})")) << schema;
  }
}

TEST(InputProblem, ASchemaThatDoublesWithEachStepIsGivenUp) {
  std::string schema = R"({"$ref": "#/$defs/d0", "$defs": {)";
  for (int i = 0; i < 28; ++i) {
    const auto next = "{\"$ref\": \"#/$defs/d" + std::to_string(i + 1) + "\"}";
    schema += "\"d" + std::to_string(i) + "\": {\"allOf\": [" + next + ", " + next + "]}, ";
  }
  schema += R"("d28": {"type": "string"}}})";
  EXPECT_FALSE(problem(schema, "{}"));
}

TEST(InputProblem, ASchemaWithTooManyPatternsIsGivenUp) {
  // Each takes some milliseconds to compile.
  const auto schema_with = [](int patterns) {
    std::string schema = R"({"properties": {"x": {"anyOf": [)";
    for (int i = 0; i < patterns; ++i) schema += fmt::format(R"({}{{"pattern": "\\pL{{9}}{}"}})", i > 0 ? ", " : "", i);
    return schema + "]}}}";
  };
  EXPECT_TRUE(problem(schema_with(10), R"({"x": "a"})"));
  EXPECT_FALSE(problem(schema_with(100), R"({"x": "a"})"));
}

TEST(InputProblem, ALongListThatIsReadOftenIsGivenUp) {
  const auto doubled = [](std::string_view list) {
    return fmt::format(R"({{"allOf": [{{"$ref": "#"}}, {{"$ref": "#"}}], {}}})", list);
  };
  std::string names = "\"a\"";
  for (int i = 0; i < 5'000; ++i) names += fmt::format(R"(, "a{}")", i);
  for (const auto* keyword : {"required", "type", "enum"})
    EXPECT_FALSE(problem(doubled(fmt::format(R"("{}": [{}])", keyword, names)), "{}")) << keyword;
}

TEST(InputProblem, APatternThatBacktracksForEverIsMatchedAtOnce) {
  constexpr auto schema = R"({"properties": {"x": {"pattern": "^(a+)+$"}}})";
  const auto input = R"({"x": ")" + std::string(100'000, 'a') + R"(!"})";
  EXPECT_EQ(problem(schema, input), "x must match the pattern ^(a+)+$");
  EXPECT_FALSE(problem(R"({"properties": {"x": {"pattern": "(?=a)("}}})", R"({"x": "b"})")) << "not one of ours";
}

}  // namespace
}  // namespace agw
