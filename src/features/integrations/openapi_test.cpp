#include "features/integrations/openapi.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::HasSubstr;

const auto address = *WebUrl::parse("https://shop.example/docs/openapi.json");

ApiDescription description_of(std::string_view text) {
  auto found = read_openapi(text, address);
  const auto* problem = std::get_if<ApiProblem>(&found);
  EXPECT_EQ(problem, nullptr) << problem->text;
  return problem ? ApiDescription{} : std::get<ApiDescription>(std::move(found));
}

std::string problem_of(std::string_view text) {
  const auto found = read_openapi(text, address);
  const auto* problem = std::get_if<ApiProblem>(&found);
  return problem ? problem->text : "none";
}

TEST(OpenApi, OperationsAreTools) {
  const auto made =
      description_of(R"({"openapi": "3.0.3", "servers": [{"url": "/v{n}", "variables": {"n": {"default": "2"}}}],
    "paths": {"/items/{id}": {"parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}],
      "get": {"operationId": "get.item", "summary": "One", "parameters": [{"name": "q", "in": "query", "required": true}]},
      "delete": {}}}})");
  EXPECT_EQ(made.server.text(), "https://shop.example/v2");
  ASSERT_EQ(made.operations.size(), 2u);
  const auto& get = made.operations[0];
  EXPECT_EQ(get.method + " " + get.path, "GET /items/{id}");
  EXPECT_EQ(get.tool.name, "get_item");
  EXPECT_EQ(get.tool.description, "One");
  EXPECT_EQ(to_json(get.tool.input_schema),
            R"({"type":"object","properties":{"q":{},"id":{"type":"integer"}},"required":["q","id"]})");
  EXPECT_EQ(made.operations[1].tool.name, "delete_items__id_");
}

TEST(OpenApi, IsReadFromYamlToo) {
  const auto made = description_of("openapi: 3.1.0\npaths:\n  /a:\n    post:\n      operationId: makeA\n");
  EXPECT_EQ(made.operations.at(0).tool.name, "makeA");
  EXPECT_EQ(made.server.text(), "https://shop.example/");
}

TEST(OpenApi, SaysWhyThereIsNothingToCall) {
  EXPECT_THAT(problem_of("{}"), HasSubstr("no OpenAPI 3 document"));
  EXPECT_THAT(problem_of(R"({"swagger": "2.0", "paths": {}})"), HasSubstr("no OpenAPI 3 document"));
  EXPECT_THAT(problem_of(R"({"openapi": "3.0.0", "paths": {}})"), HasSubstr("no operations"));
  EXPECT_THAT(problem_of("a: [b"), HasSubstr("neither JSON nor YAML"));
}

TEST(OpenApi, ReferencesWithoutEndAreCut) {
  const auto made = description_of(R"({"openapi": "3.0.0", "paths": {"/a": {"post": {"requestBody": {"content":
    {"application/json": {"schema": {"$ref": "#/components/schemas/T"}}}}}, "put": {"requestBody": {"$ref": "#/paths/~1a/put/requestBody"}}}},
    "components": {"schemas": {"T": {"properties": {"a": {"$ref": "#/components/schemas/T"}, "b": {"$ref": "#/components/schemas/T"},
                                                    "c": {"$ref": "#/components/schemas/T"}}}}}})");
  ASSERT_EQ(made.operations.size(), 2u);
  EXPECT_LT(to_json(made.operations[1].tool.input_schema).size(), 200'000u);
}

TEST(OpenApi, OfOperationsWithOneNameTheFirstIsTaken) {
  const auto made = description_of(R"({"openapi": "3.0.0", "paths": {"/a": {"get": {"operationId": "list.all"}},
    "/b": {"get": {"operationId": "list_all"}, "put": {"operationId": "put"}}}})");
  ASSERT_EQ(made.operations.size(), 2u);
  EXPECT_EQ(made.operations[0].path, "/a");
  EXPECT_EQ(made.operations[1].tool.name, "put");
}

TEST(OpenApi, TakesABoundedNumberOfOperations) {
  std::string paths;
  for (int i = 0; i < 1000; ++i) paths += fmt::format(R"({}"/{}": {{"get": {{}}}})", i ? "," : "", i);
  EXPECT_EQ(description_of(R"({"openapi": "3.0.0", "paths": {)" + paths + "}}").operations.size(), 300u);
}

}  // namespace
}  // namespace agw
