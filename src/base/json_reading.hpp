#pragma once

#include <cstddef>
#include <limits>

#include "base/json.hpp"

namespace agw {

/// How a text of JSON may differ from what `parse_json` takes.
struct JsonReading {
  std::size_t deepest = max_json_depth;
  bool any_bytes = false;  ///< its strings may hold bytes that are no UTF-8
  std::size_t most_values = std::numeric_limits<std::size_t>::max();
};
std::optional<json::value> parse_json(std::string_view text, const JsonReading& reading);

/// How deep what the gateway itself writes may nest: what came from outside is put into members of something larger.
inline constexpr std::size_t deepest_own_json = 2 * max_json_depth;

/// What the gateway itself has written down. Throws std::runtime_error where it is no JSON.
json::value parse_stored_json(std::string_view text);

/// Whether the value nests more than `levels` deep; it is level 1 itself.
bool nests_deeper(const json::value& value, std::size_t levels);

}  // namespace agw
