#pragma once

#include <optional>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// Parses JSON5 (https://spec.json5.org): JSON with comments, trailing commas, unquoted names, strings in single quotes
/// or over several lines, and more forms of numbers. Numbers that JSON cannot represent become null. Returns nullopt if
/// the text is not JSON5 or is nested too deeply.
/// Example: src/base/json/json5_test.cpp: Json5.IsReadAsJson
std::optional<json::value> parse_json5(std::string_view text);

}  // namespace agw
