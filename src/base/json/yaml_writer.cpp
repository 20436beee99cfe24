#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "base/json/yaml.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr std::size_t indentation = 2;
/// The limit of YAML for keys in the short form `key: value`.
constexpr std::size_t max_short_key_length = 120;

/// Words that some YAML version reads as another type.
bool is_reserved(std::string_view text) {
  static constexpr std::array<std::string_view, 9> words = {"y",    "n",     "yes",  "no", "on",
                                                            "true", "false", "null", "off"};
  return std::ranges::find(words, ascii_lower_case(text)) != words.end();
}

/// Whether every parser reads the text as a string, in any context.
bool is_plain(std::string_view text) {
  if (text.empty() || !is_letter(text.front()) || text.back() == ' ' || is_reserved(text)) return false;
  return std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '/' || c == ' ';
  });
}

/// The length of the UTF-8 character at the front if YAML does not allow it unescaped, else 0. Excludes one-byte
/// control characters other than DEL, because JSON escapes them.
std::size_t unprintable(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  if (byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return 2;                                           // C1
  if (byte(0) == 0xe2 && byte(1) == 0x80 && (byte(2) == 0xa8 || byte(2) == 0xa9)) return 3;  // line separators
  if (byte(0) == 0xef && byte(1) == 0xbb && byte(2) == 0xbf) return 3;                       // byte order mark
  if (byte(0) == 0xef && byte(1) == 0xbf && (byte(2) == 0xbe || byte(2) == 0xbf)) return 3;  // U+FFFE, U+FFFF
  return 0;
}

unsigned code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  if (character.size() == 2) return (byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu);
  return (byte(0) & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
}

/// Writes a JSON string, which is valid YAML, with further escapes.
void write_quoted(std::string& out, std::string_view text) {
  std::string json;
  write_json(json, text);
  for (std::size_t i = 0; i < json.size();) {
    const auto length = unprintable(std::string_view(json).substr(i));
    if (length == 0) {
      out += json[i++];
      continue;
    }
    const auto code = code_point(std::string_view(json).substr(i, length));
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
    i += length;
  }
}

/// Whether a multi-line text can be written as a literal block that keeps its line breaks.
bool fits_block(std::string_view text) {
  if (text.find('\n') == text.npos || text.ends_with("\n\n")) return false;
  if (text.front() == '\n' || text.front() == ' ' || text.front() == '\t') return false;
  bool blank_line = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    if (is_control || unprintable(text.substr(i)) > 0) return false;
    if (c == '\n' && blank_line && i > 0 && text[i - 1] != '\n') return false;
    blank_line = c == '\n' || (blank_line && (c == ' ' || c == '\t'));
  }
  return !blank_line || text.back() == '\n';
}

void write_block(std::string& out, std::string_view text, std::size_t depth) {
  out += text.ends_with('\n') ? "|" : "|-";
  if (text.ends_with('\n')) text.remove_suffix(1);
  while (true) {
    const auto end = std::min(text.find('\n'), text.size());
    out += '\n';
    if (end > 0) out.append(depth * indentation, ' ').append(text.substr(0, end));
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
}

void write_text(std::string& out, std::string_view text) {
  if (is_plain(text))
    out += text;
  else
    write_quoted(out, text);
}

/// Adds a decimal point to numbers like `1e+20`, which YAML 1.1 requires.
void write_number(std::string& out, double number) {
  std::string digits;
  write_json(digits, number);
  const auto exponent = digits.find('e');
  if (exponent != digits.npos && digits.find('.') == digits.npos) digits.insert(exponent, ".0");
  out += digits;
}

void write_node(std::string& out, const json::value& value, std::size_t depth);

/// Writes any value except a non-empty list or map.
void write_scalar(std::string& out, const json::value& value, std::size_t depth) {
  switch (value.kind()) {
    case json::kind::string: {
      const std::string_view text = value.get_string();
      if (fits_block(text))
        write_block(out, text, depth);
      else
        write_text(out, text);
      break;
    }
    case json::kind::double_:
      write_number(out, value.get_double());
      break;
    case json::kind::array:
      out += "[]";
      break;
    case json::kind::object:
      out += "{}";
      break;
    default:
      write_json(out, value);
  }
}

bool is_open(const json::value& value) {
  return (value.is_array() && !value.get_array().empty()) || (value.is_object() && !value.get_object().empty());
}

void begin_line(std::string& out, std::size_t depth) {
  if (!out.empty()) out += '\n';
  out.append(depth * indentation, ' ');
}

/// Writes a value after `:` or `-`: on the same line, or below it and one level deeper.
void write_after(std::string& out, const json::value& value, std::size_t depth) {
  if (is_open(value)) return write_node(out, value, depth + 1);
  out += ' ';
  write_scalar(out, value, depth + 1);
}

void write_node(std::string& out, const json::value& value, std::size_t depth) {
  // The text of a whole document is indented, too: at the margin, `#` would begin a comment and `---` a document.
  if (!is_open(value)) return write_scalar(out, value, std::max(depth, std::size_t{1}));
  if (value.is_array()) {
    for (const auto& element : value.get_array()) {
      begin_line(out, depth);
      out += '-';
      write_after(out, element, depth);
    }
    return;
  }
  for (const auto& member : value.get_object()) {
    begin_line(out, depth);
    const bool is_long = member.key().size() > max_short_key_length;
    if (is_long) out += "? ";
    write_text(out, member.key());
    if (is_long) begin_line(out, depth);
    out += ':';
    write_after(out, member.value(), depth);
  }
}

}  // namespace

std::string json_to_yaml(const json::value& value) {
  std::string out;
  write_node(out, value, 0);
  out += '\n';
  return out;
}

}  // namespace agw
