#pragma once

#include <string_view>

#include "base/json/json.hpp"

namespace agw {

// Services refuse a whole request for the schema of one tool, as those of many MCP servers have: if it is not an
// object, has `oneOf`, `anyOf`, `allOf`, `not` or `enum` at its top level, an array without `items`, or something else
// that their dialect of JSON Schema lacks.

/// Changes the schema in `tool[member]` to one that they accept: its alternatives become optional properties, and the
/// tool's description gets what is lost. Returns false if nothing had to be changed.
/// Example: src/models/tool_schema_test.cpp: ToolSchema.LosesNothingWithItsAlternatives
bool simplify_schema(json::object& tool, std::string_view member);

/// Changes the schemas that a service has refused, in `tools[].<member>` or `tools[].function.<member>`: simplifies all
/// of them and completes their arrays; if they need neither, moves that of the tool which the refusal names, by its
/// name or number, to the tool's description. Tools with `strict` stay as they are then. Returns whether anything
/// changed. Example: src/models/tool_schema_test.cpp: ToolSchema.IsTextIfItIsRefusedForAnotherReason
bool mend_schemas(json::object& request, std::string_view member, std::string_view refusal);

/// Cuts the descriptions of tools to the length that a refusal names ("maximum length 1024"), as Azure and some models
/// of OpenAI have. Returns false if it names none, or none is longer.
bool shorten_descriptions(json::object& request, std::string_view refusal);

}  // namespace agw
