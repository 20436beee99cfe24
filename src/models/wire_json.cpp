#include "models/wire_json.hpp"

#include <utility>

#include "base/json_reading.hpp"
#include "models/characters.hpp"

namespace agw {

namespace {

/// What others send is read on the loop, where so many take some tens of milliseconds.
constexpr std::size_t most_values = 500'000;

/// The code unit of the `\uXXXX` at `at`, or nothing where there is none.
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

bool is_high(unsigned unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low(unsigned unit) { return unit >= 0xdc00 && unit < 0xe000; }

/// `text` with the escapes of lone halves of surrogate pairs replaced by their bytes.
std::string with_bytes_of_halves(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = text[i] == '\\' ? 2 : 1;
    if (const auto unit = escaped_unit(text, i)) {
      const auto next = escaped_unit(text, i + 6);
      const bool pair = is_high(*unit) && next && is_low(*next);
      length = pair ? 12 : 6;
      if (!pair && (is_high(*unit) || is_low(*unit))) {
        out += half_character(*unit);
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

std::optional<json::object> parse_object(std::string_view text, std::size_t deepest) {
  const JsonReading reading{.deepest = deepest, .most_values = most_values};
  auto value = parse_json(text, reading);
  // What holds nothing to mend would be refused once more.
  if (!value && (text.find("\\u") != text.npos || !is_utf8(text))) {
    value = parse_json(whole_characters(with_bytes_of_halves(text)), reading);
  }
  return object_of(std::move(value));
}

std::optional<json::object> parse_cut_frame(std::string_view data) {
  if (auto value = parse_json(data, {.most_values = most_values})) return object_of(std::move(value));
  const auto bytes = with_bytes_of_halves(data);
  // Boost.JSON lets more pass than such bytes; what is no frame apart from them is none.
  if (!object_of(parse_json(whole_characters(bytes), {.most_values = most_values}))) return std::nullopt;
  return object_of(parse_json(bytes, {.any_bytes = true, .most_values = most_values}));
}

}  // namespace agw
