#pragma once

#include <string_view>

#include "base/json/json.hpp"

namespace agw {

// Anthropic and OpenAI refuse a whole request if the schema of one tool is not an object, or has `oneOf`, `anyOf`,
// `allOf`, `not` or `enum` at its top level, as those of many MCP servers have.

/// Changes the schema in `tool[member]` to one that they accept: its alternatives become optional properties, and the
/// tool's description gets what is lost. Returns false if nothing had to be changed.
/// Example: src/models/tool_schema_test.cpp: ToolSchema.LosesNothingWithItsAlternatives
bool simplify_schema(json::object& tool, std::string_view member);

/// The same for each tool of a request in `tools`, or in their member `function` if there is one.
bool simplify_schemas(json::object& request, std::string_view member);

/// Cuts the descriptions of tools to the length that a refusal names ("maximum length 1024"), as Azure and some models
/// of OpenAI have. Returns false if it names none, or none is longer.
bool shorten_descriptions(json::object& request, std::string_view refusal);

}  // namespace agw
