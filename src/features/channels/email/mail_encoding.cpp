#include "features/channels/email/mail_encoding.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>

#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "tools/charset.hpp"

namespace agw {

namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t max_line = 76;
/// Input bytes of an encoded word, which may have at most 75 characters.
constexpr std::size_t bytes_in_word = 42;

constexpr auto values_of_digits = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < base64_digits.size(); ++i)
    values[static_cast<unsigned char>(base64_digits[i])] = static_cast<std::int8_t>(i);
  return values;
}();

std::string decode_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t held = 0;
  int bits = 0;
  for (const char digit : text) {
    const auto value = values_of_digits[static_cast<unsigned char>(digit)];
    if (value < 0) continue;
    held = held << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xff);
  }
  return bytes;
}

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

std::string decode_quoted_printable(std::string_view text, bool is_word) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_word && text[i] == '_') {
      bytes += ' ';
      continue;
    }
    if (text[i] != '=') {
      bytes += text[i];
      continue;
    }
    const auto rest = text.substr(i + 1);
    const int high = rest.empty() ? -1 : hex_value(rest[0]);
    const int low = rest.size() < 2 ? -1 : hex_value(rest[1]);
    if (high >= 0 && low >= 0) {
      bytes += static_cast<char>(high << 4 | low);
      i += 2;
    } else if (rest.starts_with("\r\n")) {
      i += 2;
    } else if (rest.starts_with("\n")) {
      i += 1;
    } else {
      bytes += '=';
    }
  }
  return bytes;
}

std::string in_charset(std::string_view bytes, std::string_view charset) {
  // A language may follow the charset (RFC 2231, section 5).
  return text_to_utf8(bytes, fmt::format("text/plain; charset={}", charset.substr(0, charset.find('*'))));
}

struct Word {
  std::string charset;
  std::string bytes;
  std::size_t size = 0;  ///< in the encoded text
};

/// The encoded word that `text` begins with.
std::optional<Word> word_at(std::string_view text) {
  const auto charset_end = text.find('?', 2);
  if (charset_end == text.npos || charset_end + 2 >= text.size() || text[charset_end + 2] != '?') return std::nullopt;
  const char encoding = text[charset_end + 1];
  const auto begin = charset_end + 3;
  const auto end = text.find("?=", begin);
  if (end == text.npos || text.substr(0, end).find_first_of(" \t\r\n") != text.npos) return std::nullopt;
  auto charset = lower_case(std::string(text.substr(2, charset_end - 2)));
  const auto content = text.substr(begin, end - begin);
  if (encoding == 'B' || encoding == 'b') return Word{std::move(charset), decode_base64(content), end + 2};
  if (encoding == 'Q' || encoding == 'q')
    return Word{std::move(charset), decode_quoted_printable(content, true), end + 2};
  return std::nullopt;
}

}  // namespace

std::string decode_body(std::string_view body, std::string_view encoding) {
  if (boost::iequals(encoding, "base64")) return decode_base64(body);
  if (boost::iequals(encoding, "quoted-printable")) return decode_quoted_printable(body, false);
  return std::string(body);
}

std::string decode_header(std::string_view text) {
  std::string decoded;
  // Adjacent words of a charset are decoded together: some programs split a character between two words.
  Word words;
  const auto finish_words = [&] {
    decoded += in_charset(words.bytes, words.charset);
    words = {};
  };
  for (bool follows_word = false; !text.empty();) {
    const auto begin = std::min(text.find("=?"), text.size());
    const auto word = begin < text.size() ? word_at(text.substr(begin)) : std::nullopt;
    const auto before = text.substr(0, word || begin == text.size() ? begin : begin + 2);
    // Blanks between encoded words are not part of the text.
    const bool is_between = follows_word && word && before.find_first_not_of(" \t\r\n") == before.npos;
    if (!is_between || words.charset != word->charset) finish_words();
    if (!is_between) decoded += text_to_utf8(before, "text/plain");
    text.remove_prefix(before.size());
    follows_word = word.has_value();
    if (!word) continue;
    words.charset = word->charset;
    words.bytes += word->bytes;
    text.remove_prefix(word->size);
  }
  finish_words();
  std::ranges::replace_if(decoded, is_control, ' ');
  return decoded;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + bytes.size() / 38 + 8);
  std::size_t column = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto group = bytes.substr(i, 3);
    std::uint32_t held = 0;
    for (std::size_t k = 0; k < 3; ++k)
      held = held << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= group.size() ? base64_digits[held >> (18 - 6 * k) & 0x3f] : '=';
    column += 4;
    if (column < max_line) continue;
    text += "\r\n";
    column = 0;
  }
  if (column > 0) text += "\r\n";
  return text;
}

std::string encode_quoted_printable(std::string_view utf8) {
  std::string text;
  std::size_t column = 0;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const char c = utf8[i];
    const bool ends_line = i + 1 == utf8.size() || utf8[i + 1] == '\n';
    if (c == '\r') continue;
    if (c == '\n') {
      text += "\r\n";
      column = 0;
      continue;
    }
    const bool is_plain = (c > ' ' && c < 0x7f && c != '=') || (c == ' ' && !ends_line);
    // Some servers change a line that is a single dot, or begins with "From ".
    const bool is_risky = column == 0 && (c == '.' || c == 'F');
    const std::size_t width = is_plain && !is_risky ? 1 : 3;
    if (column + width > max_line - 1) {
      text += "=\r\n";
      column = 0;
    }
    text += width == 1 ? std::string(1, c) : fmt::format("={:02X}", static_cast<unsigned char>(c));
    column += width;
  }
  return text;
}

std::string encode_header(std::string_view utf8) {
  std::string clean(utf8);
  std::ranges::replace_if(clean, is_control, ' ');
  const bool is_plain = std::ranges::all_of(clean, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (is_plain && clean.find("=?") == clean.npos) return clean;
  std::string words;
  for (std::string_view rest = clean; !rest.empty();) {
    const auto piece = utf8_prefix(rest, bytes_in_word);
    auto digits = encode_base64(piece);
    std::erase_if(digits, [](char c) { return c == '\r' || c == '\n'; });
    words += fmt::format("{}=?utf-8?B?{}?=", words.empty() ? "" : "\r\n ", digits);
    rest.remove_prefix(piece.size());
  }
  return words;
}

}  // namespace agw
