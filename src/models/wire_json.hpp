#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/blank.hpp"
#include "base/json.hpp"
#include "base/json_member.hpp"

namespace agw {

/// Readers of what a provider sent: never throw, whatever came.

/// The string, empty where there is none. A view into `object`.
inline std::string_view text_member(const json::object& object, std::string_view name) {
  return string_member(object, name).value_or(std::string_view());
}

/// Far beyond what is real, and small enough that sums of such counts stay numbers.
inline constexpr std::int64_t highest_count = 1'000'000'000'000;

/// A whole number from 0 up to that.
inline std::optional<std::int64_t> count_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (!value || !value->is_int64()) return std::nullopt;
  return std::clamp<std::int64_t>(value->get_int64(), 0, highest_count);
}

/// The JSON object that a text holds, such as an error's body or the arguments of a call. Bytes that are no UTF-8, and
/// halves of surrogate pairs, are replaced by U+FFFD first.
std::optional<json::object> parse_object(std::string_view text, std::size_t deepest = max_json_depth);

/// The object that a frame of a stream holds, whose texts a server may have cut within a character: such bytes stay,
/// and halves are three bytes each, until the next piece comes (CharacterReader) or no more will (`whole_characters`).
std::optional<json::object> parse_cut_frame(std::string_view data);

}  // namespace agw
