#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace agw {

namespace json = boost::json;

/// How deep a text may nest; the outermost value is level 1.
inline constexpr std::size_t max_json_depth = 64;

/// Reads one JSON text (RFC 8259), strictly: nothing for what is not one, is deeper than 64, holds a number out of
/// range (`1e400`), a lone surrogate, invalid UTF-8 or a byte order mark. Of a doubled member the last wins.
std::optional<json::value> parse_json(std::string_view text);

/// Appends `value` as compact JSON. Doubles are written with the fewest digits that read back the same.
void write_json(std::string& out, const json::value& value);
void write_json(std::string& out, std::string_view text);  ///< as a string in quotes, control characters escaped
void write_json(std::string& out, double number);
std::string to_json(const json::value& value);

/// Whether `text` is UTF-8 throughout (no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD: for what comes from outside and must be
/// stored or sent as text.
std::string to_utf8(std::string_view text);

/// The member as a string, or nothing where it is absent or another type. A view into `object`.
std::optional<std::string_view> string_member(const json::object& object, std::string_view name);

}  // namespace agw
