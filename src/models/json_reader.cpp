#include "models/json_reader.hpp"

#include <utility>

#include "base/json/json.hpp"
#include "base/text/utf8.hpp"
#include "models/utf8_decoder.hpp"

namespace agw {

namespace {

/// Frames are parsed on the loop. This many values take some tens of milliseconds.
constexpr std::size_t max_values = 500'000;

/// The code unit of the `\uXXXX` at `at`, or nullopt.
std::optional<unsigned> escaped_unit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned unit = 0;
  for (const char c : text.substr(at + 2, 4)) {
    const auto digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | (c >= 'A' ? 0x20 : 0)));
    if (digit == std::string_view::npos) return std::nullopt;
    unit = unit * 16 + static_cast<unsigned>(digit);
  }
  return unit;
}

/// Replaces the escapes of unpaired surrogates in `text` with their bytes.
std::string with_surrogate_bytes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = text[i] == '\\' ? 2 : 1;
    if (const auto unit = escaped_unit(text, i)) {
      const auto next = escaped_unit(text, i + 6);
      const bool pair = is_high_surrogate(*unit) && next && is_low_surrogate(*next);
      length = pair ? 12 : 6;
      if (!pair && (is_high_surrogate(*unit) || is_low_surrogate(*unit))) {
        out += encode_surrogate(*unit);
        i += length;
        continue;
      }
    }
    out += text.substr(i, length);
    i += length;
  }
  return out;
}

std::optional<json::object> object_of(std::optional<json::value> value) {
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->get_object());
}

}  // namespace

std::optional<json::object> parse_object(std::string_view text, std::size_t max_depth) {
  // The arguments of a call may be tried after each of many pieces.
  const auto last = text.find_last_not_of(white_space);
  if (last == text.npos || text[last] != '}') return std::nullopt;
  const JsonParseOptions reading{.max_depth = max_depth, .max_values = max_values};
  auto value = parse_json(text, reading);
  // If there is nothing to repair, a second try would fail too.
  if (!value && (text.find("\\u") != text.npos || !is_utf8(text))) {
    value = parse_json(to_valid_utf8(with_surrogate_bytes(text)), reading);
  }
  return object_of(std::move(value));
}

std::optional<json::object> parse_stream_frame(std::string_view data) {
  if (auto value = parse_json(data, {.max_values = max_values})) return object_of(std::move(value));
  const auto bytes = with_surrogate_bytes(data);
  // With this option, Boost.JSON accepts more than these bytes. The rest of the frame must therefore be valid without
  // it.
  if (!object_of(parse_json(to_valid_utf8(bytes), {.max_values = max_values}))) return std::nullopt;
  return object_of(parse_json(bytes, {.allow_invalid_utf8 = true, .max_values = max_values}));
}

}  // namespace agw
