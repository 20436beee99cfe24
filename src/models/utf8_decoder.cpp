#include "models/utf8_decoder.hpp"

#include <algorithm>
#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"

namespace agw {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";
constexpr std::size_t surrogate_bytes = 3;

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/// Whether there is an encoded surrogate at `at` whose second byte has these upper bits.
bool is_surrogate(std::string_view text, std::size_t at, unsigned second) {
  return at + surrogate_bytes <= text.size() && byte_at(text, at) == 0xed && (byte_at(text, at + 1) & 0xf0) == second &&
         (byte_at(text, at + 2) & 0xc0) == 0x80;
}

bool is_high_surrogate(std::string_view text, std::size_t at) { return is_surrogate(text, at, 0xa0); }
bool is_low_surrogate(std::string_view text, std::size_t at) { return is_surrogate(text, at, 0xb0); }

/// The ten bits of the character that the surrogate encodes.
unsigned surrogate_bits(std::string_view text, std::size_t at) {
  return (byte_at(text, at + 1) & 0x0f) << 6 | (byte_at(text, at + 2) & 0x3f);
}

std::string character_of_halves(std::string_view text, std::size_t at) {
  AGW_ASSERT(at + 2 * surrogate_bytes <= text.size());
  const unsigned code = 0x10000 + (surrogate_bits(text, at) << 10 | surrogate_bits(text, at + surrogate_bytes));
  return {static_cast<char>(0xf0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 0x3f)),
          static_cast<char>(0x80 | (code >> 6 & 0x3f)), static_cast<char>(0x80 | (code & 0x3f))};
}

std::size_t length_by_first_byte(unsigned first) {
  if (first < 0xc2 || first > 0xf4) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/// Returns the start of the last character if it may be incomplete, else the end of the text.
std::size_t complete_length(std::string_view text) {
  std::size_t end = text.size();
  for (std::size_t back = 1; back <= std::min<std::size_t>(surrogate_bytes, text.size()); ++back) {
    const auto first = byte_at(text, text.size() - back);
    if (length_by_first_byte(first) > back) end = text.size() - back;
    if ((first & 0xc0) != 0x80) break;
  }
  if (end >= surrogate_bytes && is_high_surrogate(text, end - surrogate_bytes)) end -= surrogate_bytes;
  return end;
}

}  // namespace

std::string encode_surrogate(unsigned code_unit) {
  AGW_ASSERT(code_unit >= 0xd800);
  AGW_ASSERT(code_unit < 0xe000);
  return {static_cast<char>(0xe0 | code_unit >> 12), static_cast<char>(0x80 | (code_unit >> 6 & 0x3f)),
          static_cast<char>(0x80 | (code_unit & 0x3f))};
}

std::string to_valid_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (is_high_surrogate(text, i) && is_low_surrogate(text, i + surrogate_bytes)) {
      out += character_of_halves(text, i);
      i += 2 * surrogate_bytes;
    } else if (is_high_surrogate(text, i) || is_low_surrogate(text, i)) {
      out += replacement;
      i += surrogate_bytes;
    } else {
      out += text[i++];
    }
  }
  return to_utf8(out);
}

std::string Utf8Decoder::add(std::string_view piece) {
  waiting_ += piece;
  const auto end = complete_length(waiting_);
  AGW_ASSERT(end <= waiting_.size());
  AGW_ASSERT(waiting_.size() - end <= 2 * surrogate_bytes);
  const auto whole = std::string_view(waiting_).substr(0, end);
  auto text = to_valid_utf8(whole);
  waiting_.erase(0, end);
  return text;
}

std::string Utf8Decoder::finish() {
  return std::exchange(waiting_, {}).empty() ? std::string() : std::string(replacement);
}

}  // namespace agw
