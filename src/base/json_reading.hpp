#pragma once

#include "base/json.hpp"

namespace agw {

/// How a text of JSON may differ from what `parse_json` takes.
struct JsonReading {
  std::size_t deepest = max_json_depth;
  bool any_bytes = false;  ///< its strings may hold bytes that are no UTF-8
};
std::optional<json::value> parse_json(std::string_view text, const JsonReading& reading);

/// What the gateway itself has written down. It may nest deeper than what came from outside, because that is put into
/// members of something larger. Throws std::runtime_error where it is no JSON.
json::value parse_stored_json(std::string_view text);

/// Whether the value nests more than `levels` deep; it is level 1 itself.
bool nests_deeper(const json::value& value, std::size_t levels);

}  // namespace agw
