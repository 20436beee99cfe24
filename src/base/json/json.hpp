#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace agw {

namespace json = boost::json;

/// The maximum nesting of JSON from outside; the outermost value is level 1.
inline constexpr std::size_t max_json_depth = 64;

/// The same for JSON written by the gateway, which embeds values from outside in larger ones.
inline constexpr std::size_t max_own_json_depth = 2 * max_json_depth;

struct JsonParseOptions {
  std::size_t max_depth = max_json_depth;
  bool allow_invalid_utf8 = false;  ///< accept strings that are not UTF-8
  bool allow_comments = false;  ///< accept comments and trailing commas, which other programs allow in their settings
  std::size_t max_values = std::numeric_limits<std::size_t>::max();
};

/// Parses one JSON text (RFC 8259) strictly. Returns nullopt if the text is not JSON, is nested too deeply, or contains
/// a number out of range (`1e400`), a lone surrogate, invalid UTF-8 or a byte order mark. The last of duplicate members
/// wins.
/// Example: src/base/json/json_test.cpp: Json.WritesWhatItRead
std::optional<json::value> parse_json(std::string_view text, const JsonParseOptions& reading = {});

/// Parses JSON that the gateway has written. Throws std::runtime_error if it is invalid.
json::value parse_stored_json(std::string_view text);

/// Whether the value, itself level 1, nests more than `levels` deep.
bool nests_deeper(const json::value& value, std::size_t levels);

/// Appends `value` as compact JSON. Doubles are written with the fewest digits that read back the same.
void write_json(std::string& out, const json::value& value);
void write_json(std::string& out, std::string_view text);  ///< as a quoted string, control characters escaped
void write_json(std::string& out, double number);
std::string to_json(const json::value& value);

/// Whether `text` is valid UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);
/// Whether the bytes are text: UTF-8 without NUL.
inline bool is_text(std::string_view bytes) { return bytes.find('\0') == bytes.npos && is_utf8(bytes); }

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD, so that it can be stored or sent as text.
std::string to_utf8(std::string_view text);

}  // namespace agw
