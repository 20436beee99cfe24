#include "models/wire_json.hpp"

#include <utility>

namespace agw {

namespace {

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

std::string replace_lone_surrogates(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = text[i] == '\\' ? 2 : 1;
    if (const auto unit = escaped_unit(text, i)) {
      const auto next = escaped_unit(text, i + 6);
      const bool pair = is_high(*unit) && next && is_low(*next);
      length = pair ? 12 : 6;
      if (!pair && (is_high(*unit) || is_low(*unit))) {
        out += "\\ufffd";
        i += length;
        continue;
      }
    }
    out += text.substr(i, length);
    i += length;
  }
  return out;
}

}  // namespace

std::optional<json::object> parse_frame(std::string_view data) {
  auto value = parse_json(data);
  if (!value) value = parse_json(replace_lone_surrogates(to_utf8(data)));
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->get_object());
}

}  // namespace agw
