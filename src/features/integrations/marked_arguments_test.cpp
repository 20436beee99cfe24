#include "features/integrations/marked_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json/json.hpp"

namespace agw {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

json::object parsed(std::string_view text) { return parse_json(text)->as_object(); }

std::string problem_of_properties(std::string_view properties) {
  return problem_of_marks({{"type", "object"}, {"properties", parsed(properties)}});
}

TEST(MarkedArguments, BecomeHeaders) {
  const auto schema = parsed(R"({"properties": {
      "region": {"type": "string", "x-mcp-header": "Region"}, "dry": {"type": "boolean", "x-mcp-header": "Dry"},
      "size": {"type": "integer", "x-mcp-header": "Size"}, "none": {"type": "string", "x-mcp-header": "None"},
      "plain": {"type": "string"},
      "at": {"type": "object", "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}}}})");
  EXPECT_EQ(problem_of_marks(schema), "");
  const auto arguments =
      parsed(R"({"region": "", "dry": true, "size": 42.0, "none": null, "plain": "p", "at": {"zone": "b"}})");
  EXPECT_THAT(headers_of_marked(schema, arguments),
              ElementsAre(Pair("Mcp-Param-Region", ""), Pair("Mcp-Param-Dry", "true"), Pair("Mcp-Param-Size", "42"),
                          Pair("Mcp-Param-Zone", "b")));
}

TEST(MarkedArguments, HaveNamesOfHeadersOfTheirOwn) {
  EXPECT_EQ(problem_of_properties(R"({"a": {"type": "string", "x-mcp-header": "A!b"}})"), "");
  for (const auto* name : {R"("")", R"("A b")", R"("A:")", R"("A\r\nB")", R"("Größe")", "5", "null"}) {
    EXPECT_EQ(problem_of_properties(std::string(R"({"a": {"type": "string", "x-mcp-header": )") + name + "}}"),
              "is not the name of a header")
        << name;
  }
  EXPECT_EQ(problem_of_properties(R"({"a": {"type": "string", "x-mcp-header": "Zone"},
      "b": {"type": "object", "properties": {"c": {"type": "string", "x-mcp-header": "zone"}}}})"),
            "has zone twice");
}

TEST(MarkedArguments, ArePrimitive) {
  for (const auto* type : {R"("object")", R"("array")", R"(["string", "null"])", "null"}) {
    EXPECT_EQ(problem_of_properties(std::string(R"({"a": {"x-mcp-header": "A", "type": )") + type + "}}"),
              "is at neither a text, an integer nor a boolean")
        << type;
  }
}

TEST(MarkedArguments, AreReachedByPropertiesAlone) {
  EXPECT_EQ(problem_of_marks(parsed(R"({"type": "object", "x-mcp-header": "A"})")), "is at no argument");
  EXPECT_EQ(problem_of_properties(R"({"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}})"),
            "is within items");
  EXPECT_EQ(problem_of_marks(parsed(R"({"anyOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]})")),
            "is within anyOf");
  EXPECT_EQ(problem_of_properties(R"({"a": {"type": "string", "default": {"x-mcp-header": 5}}, "x-mcp-header": {}})"),
            "");
}

}  // namespace
}  // namespace agw
