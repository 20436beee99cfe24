#pragma once

#include <optional>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// Reads JSON5 (https://spec.json5.org): JSON with comments, commas at the end, names without quotes, texts in single
/// quotes or over several lines, and more forms of numbers. Numbers that JSON does not have become null. Returns
/// no value for a text that is not JSON5 or nested too deeply.
/// Example: src/base/json/json5_test.cpp: Json5.IsReadAsJson
std::optional<json::value> parse_json5(std::string_view text);

}  // namespace agw
