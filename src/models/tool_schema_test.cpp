#include "models/tool_schema.hpp"

#include <string>

#include <gtest/gtest.h>

namespace agw {
namespace {

json::object tool_with(std::string_view schema) {
  return {{"name", "move"}, {"description", "Moves it."}, {"parameters", parse_json(schema).value()}};
}

TEST(ToolSchema, LosesNothingWithItsAlternatives) {
  auto tool = tool_with(R"({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"],
      "oneOf": [{"properties": {"to": {"type": "string"}}, "required": ["to"]},
                {"properties": {"by": {"type": "number"}, "id": {}}, "required": ["by"]}],
      "allOf": [{"properties": {"how": {"type": "string"}}, "required": ["how"]}]})");
  EXPECT_TRUE(simplify_schema(tool, "parameters"));
  EXPECT_EQ(to_json(tool.at("parameters")),
            R"({"type":"object","properties":{"id":{"type":"string"},"to":{"type":"string"},"by":{"type":"number"},)"
            R"("how":{"type":"string"}},"required":["id","how"]})");
  EXPECT_EQ(tool.at("description"),
            R"(Moves it.

The input must also match this JSON Schema: {"oneOf":[{"properties":{"to":{"type":"string"}},"required":["to"]},)"
            R"({"properties":{"by":{"type":"number"},"id":{}},"required":["by"]}],)"
            R"("allOf":[{"properties":{"how":{"type":"string"}},"required":["how"]}]})");
  EXPECT_FALSE(simplify_schema(tool, "parameters"));
}

TEST(ToolSchema, IsAnObject) {
  auto tool = tool_with(R"({"$ref": "#/$defs/input", "$defs": {"input": {"type": "object"}}})");
  EXPECT_TRUE(simplify_schema(tool, "parameters"));
  EXPECT_EQ(to_json(tool.at("parameters")),
            R"({"$ref":"#/$defs/input","$defs":{"input":{"type":"object"}},"type":"object","properties":{}})");
  EXPECT_EQ(tool.at("description"), "Moves it.");
}

TEST(ToolSchema, StaysAsItIsIfItIsPlain) {
  auto tool =
      tool_with(R"({"type": "object", "properties": {"to": {"anyOf": [{"type": "string"}, {"type": "null"}]}}})");
  const auto before = tool;
  EXPECT_FALSE(simplify_schema(tool, "parameters"));
  EXPECT_EQ(tool, before);
  EXPECT_FALSE(simplify_schema(tool, "input_schema"));
}

TEST(ToolSchema, IsSimplifiedInEachTool) {
  json::object request{
      {"tools", json::array{json::object{{"type", "function"}, {"function", tool_with(R"({"anyOf": []})")}},
                            json::object{{"type", "tool_search"}}}}};
  EXPECT_TRUE(mend_schemas(request, "parameters", "Invalid schema"));
  EXPECT_FALSE(mend_schemas(request, "parameters", "Invalid schema"));
  EXPECT_FALSE(mend_schemas(request["tools"].get_array()[1].get_object(), "parameters", "Invalid schema"));
}

TEST(ToolSchema, HasItemsInEachArray) {
  json::object request{{"tools", json::array{tool_with(R"({"type": "object", "properties": {
      "tags": {"type": "array"}, "lines": {"type": "array", "items": {"type": ["array", "null"]}}, "type": {}}})")}}};
  EXPECT_TRUE(mend_schemas(request, "parameters",
                           "Invalid schema for function 'move': In context=('properties', 'tags'), array schema "
                           "missing items."));
  EXPECT_EQ(
      to_json(request.at("tools").at(0).at("parameters").at("properties")),
      R"({"tags":{"type":"array","items":{}},"lines":{"type":"array","items":{"type":["array","null"],"items":{}}},)"
      R"("type":{}})");
}

TEST(ToolSchema, IsTextIfItIsRefusedForAnotherReason) {
  const auto mended = [](std::string_view refusal) {
    const auto tool = tool_with(R"({"type": "object", "properties": {"$to": {"type": "strng"}}})");
    auto other = tool;
    other["name"] = "other";
    json::object request{{"tools", json::array{other, tool}}};
    if (mend_schemas(request, "parameters", refusal)) EXPECT_FALSE(mend_schemas(request, "parameters", refusal));
    EXPECT_EQ(request.at("tools").at(0), other);
    return request.at("tools").at(1) == tool ? std::string() : to_json(request.at("tools").at(1));
  };
  const std::string text = R"({"name":"move","description":"Moves it.\n\nThe input must match this JSON Schema: )"
                           R"({\"type\":\"object\",\"properties\":{\"$to\":{\"type\":\"strng\"}}}",)"
                           R"("parameters":{"type":"object","properties":{}}})";
  for (const auto* refusal :
       {"Invalid schema for function 'move': 'strng' is not valid",
        "tools.1.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
        "GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[$to].type: unknown"}) {
    EXPECT_EQ(mended(refusal), text) << refusal;
  }
  EXPECT_EQ(mended("Invalid schema for response_format 'moved'"), "");
}

TEST(ToolSchema, HasADescriptionOfTheLengthThatTheRefusalNames) {
  const std::string refusal =
      "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 20, but got a "
      "string with length 24 instead.";
  json::object request{{"tools", json::array{json::object{{"description", "Moves it äääääää to it."}},
                                             json::object{{"description", "Moves it."}}}}};
  EXPECT_TRUE(shorten_descriptions(request, refusal));
  EXPECT_EQ(to_json(request), R"({"tools":[{"description":"Moves it ääää…"},{"description":"Moves it."}]})");
  EXPECT_FALSE(shorten_descriptions(request, refusal));
  EXPECT_FALSE(shorten_descriptions(request, "string too long"));
}

}  // namespace
}  // namespace agw
