#pragma once

#include <cstddef>
#include <string>

#include "models/model.hpp"

namespace agw {

/// More tools than any program declares or any model can use.
inline constexpr std::size_t max_client_tools = 1'024;
inline constexpr std::size_t max_client_messages = 10'000;

// Maximum lengths of tool names, in characters.
inline constexpr std::size_t max_openai_tool_name = 64;
inline constexpr std::size_t max_anthropic_tool_name = 128;

/// Throws ApiError 400, which names `path`, if models would reject the name of a tool.
void check_tool_name(const std::string& name, const std::string& path, std::size_t max_length = max_openai_tool_name);
/// The JSON Schema of a tool's input; for null, that of an empty object. Throws ApiError 400 if it is not an object, or
/// refers to itself endlessly.
json::value tool_schema(const json::value* schema, const std::string& path);

}  // namespace agw
