#include "base/printable.hpp"

#include <optional>

#include <fmt/format.h>

#include "base/json/json.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

/// The code point of a character that must not reach a terminal; nullopt for others.
std::optional<unsigned> harmful(std::string_view character) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(character[index]); };
  if (character.size() == 1) {
    const bool control = (byte(0) < 0x20 && byte(0) != '\n' && byte(0) != '\t') || byte(0) == 0x7F;
    return control ? std::optional<unsigned>(byte(0)) : std::nullopt;
  }
  if (character.size() == 2 && byte(0) == 0xC2 && byte(1) < 0xA0) return byte(1);
  if (character.size() == 3 && byte(0) == 0xE2) {
    if (byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE) return 0x2000U + (byte(2) - 0x80U);
    if (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9) return 0x2040U + (byte(2) - 0x80U);
  }
  return std::nullopt;
}

/// Replaces each harmful character by its escape.
std::string with_escapes(std::string_view text, std::string (*escaped)(unsigned code_point)) {
  const auto valid = to_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::string_view rest = valid; !rest.empty();) {
    const auto character = first_characters(rest, 1);
    if (const auto code_point = harmful(character))
      out += escaped(*code_point);
    else
      out += character;
    rest.remove_prefix(character.size());
  }
  return out;
}

std::string visible(unsigned code_point) {
  return code_point < 0x80 ? fmt::format("\\x{:02x}", code_point) : fmt::format("\\u{:04x}", code_point);
}

std::string in_json(unsigned code_point) { return fmt::format("\\u{:04x}", code_point); }

std::string without_breaks(std::string_view text) {
  std::string line;
  for (const char byte : text) {
    const bool space = byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
    if (!space) {
      line += byte;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

std::string printable(std::string_view text) { return with_escapes(text, visible); }

std::string printable_json(std::string_view text) { return with_escapes(text, in_json); }

std::string one_line(std::string_view text, std::size_t limit) {
  auto line = printable(without_breaks(text));
  if (first_characters(line, limit).size() == line.size()) return line;
  return std::string(first_characters(line, limit - 1)) + "…";
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

}  // namespace agw
