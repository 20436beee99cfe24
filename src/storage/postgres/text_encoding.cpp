#include "storage/postgres/text_encoding.hpp"

#include <algorithm>
#include <cstdint>

#include "base/async/assert.hpp"

namespace agw::postgres {

namespace {

constexpr std::string_view mark = "\xf4\x8f\xbf\xbf";  // U+10FFFF

unsigned char byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

bool is_continuation(std::string_view text, std::size_t i) {
  return i < text.size() && (byte_at(text, i) & 0xc0) == 0x80;
}

/// The length of the first character if PostgreSQL can store it unchanged, else 0 (RFC 3629, 4).
std::size_t plain_length(std::string_view text) {
  const auto first = byte_at(text, 0);
  if (first < 0x80) return first == 0 ? 0 : 1;
  if (first < 0xc2 || first > 0xf4 || !is_continuation(text, 1)) return 0;
  if (first < 0xe0) return 2;
  const auto second = byte_at(text, 1);
  if (!is_continuation(text, 2)) return 0;
  if (first < 0xf0) return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ? 0 : 3;
  if (!is_continuation(text, 3) || text.starts_with(mark)) return 0;
  return (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f) ? 0 : 4;
}

/// The prefix of `text` that is stored unchanged.
std::size_t plain_prefix(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const auto length = plain_length(text.substr(end));
    if (length == 0) return end;
    end += length;
  }
  AGW_ASSERT(end == text.size());
  return end;
}

/// Appends the mark and U+0100 + byte.
void append_byte(std::string& to, unsigned char byte) {
  to += mark;
  to += static_cast<char>(0xc4 + (byte >> 6));
  to += static_cast<char>(0x80 + (byte & 0x3f));
}

bool starts_with_byte(std::string_view text) {
  return text.size() >= mark.size() + 2 && text.starts_with(mark) && byte_at(text, 4) >= 0xc4 &&
         byte_at(text, 4) <= 0xc7;
}

}  // namespace

bool needs_encoding(std::string_view text) { return plain_prefix(text) < text.size(); }

std::string encoded(std::string_view text) {
  const auto original = text;
  std::string result;
  while (true) {
    const auto plain = plain_prefix(text);
    result += text.substr(0, plain);
    if (plain == text.size()) break;
    append_byte(result, byte_at(text, plain));
    text.remove_prefix(plain + 1);
  }
  AGW_DEBUG_ASSERT(decoded(result) == original);
  return result;
}

bool may_be_encoded(std::string_view text) { return text.find(mark.front()) != std::string_view::npos; }

std::string decoded(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    if (starts_with_byte(text)) {
      result += static_cast<char>((byte_at(text, 4) - 0xc4) << 6 | (byte_at(text, 5) & 0x3f));
      text.remove_prefix(mark.size() + 2);
    } else {
      result += text.front();
      text.remove_prefix(1);
    }
  }
  return result;
}

}  // namespace agw::postgres
