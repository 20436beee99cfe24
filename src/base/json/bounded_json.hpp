#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

struct BoundedJson {
  std::optional<json::value> value;
  bool has_too_many_values = false;  ///< the text has more than `max_values` values, so `value` is empty
  std::string problem{};             ///< why `value` is empty, in the parser's words
  std::size_t problem_at = 0;        ///< bytes of the text before the problem
};

/// Like `parse_json`, for callers that report why they reject a text.
/// Example: src/base/json/json_test.cpp: Json.HasALimitOnTheNumberOfValues
BoundedJson parse_bounded_json(std::string_view text, const JsonParseOptions& reading);

}  // namespace agw
