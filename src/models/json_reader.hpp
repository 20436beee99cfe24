#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"

namespace agw {

/// Readers of JSON from providers. They never throw.
/// Example: src/models/json_reader_test.cpp: ParseObject.ReplacesHalvesOfSurrogatePairs

/// The string member, or an empty view if it is missing or not a string. A view into `object`.
inline std::string_view text_member(const json::object& object, std::string_view name) {
  return string_member(object, name).value_or(std::string_view());
}

/// More than any real count, and small enough that sums do not overflow.
inline constexpr std::int64_t max_count = 1'000'000'000'000;

/// The integer member, clamped to 0 … `max_count`.
inline std::optional<std::int64_t> count_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (!value || !value->is_int64()) return std::nullopt;
  return std::clamp<std::int64_t>(value->get_int64(), 0, max_count);
}

/// Parses a JSON object such as an error's body or a call's arguments. Invalid UTF-8 and unpaired surrogates become
/// U+FFFD first. Returns nullopt if `text` is not an object.
std::optional<json::object> parse_object(std::string_view text, std::size_t max_depth = max_json_depth);

/// Parses the object of a stream's frame. A server may have split a character between two frames. Incomplete bytes are
/// therefore kept, and unpaired surrogates stay encoded in three bytes, for Utf8Decoder or `to_valid_utf8`.
std::optional<json::object> parse_stream_frame(std::string_view data);

}  // namespace agw
