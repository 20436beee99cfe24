#include <algorithm>
#include <cstdint>

#include "base/digest.hpp"

namespace agw {

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr int bits_per_digit = 6;
constexpr int bits_per_byte = 8;
constexpr std::uint32_t digit_mask = 0x3f;
constexpr std::uint32_t byte_mask = 0xff;

}  // namespace

std::string to_base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t held = 0;
  int bits = 0;
  for (const unsigned char byte : bytes) {
    held = held << bits_per_byte | byte;
    for (bits += bits_per_byte; bits >= bits_per_digit; bits -= bits_per_digit)
      text += alphabet[held >> (bits - bits_per_digit) & digit_mask];
  }
  if (bits > 0) text += alphabet[held << (bits_per_digit - bits) & digit_mask];
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  while (text.size() % 4 == 0 && text.ends_with('=')) text.remove_suffix(text.ends_with("==") ? 2 : 1);
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char digit : text) {
    const auto value = alphabet.find(digit);
    if (value == alphabet.npos) return std::nullopt;
    held = held << bits_per_digit | static_cast<std::uint32_t>(value);
    bits += bits_per_digit;
    if (bits < bits_per_byte) continue;
    bits -= bits_per_byte;
    bytes += static_cast<char>(held >> bits & byte_mask);
  }
  // A single digit does not make a byte, and the bits after the last byte must be zero.
  const bool is_whole = bits < bits_per_digit && (held & ((1U << bits) - 1)) == 0;
  return is_whole ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace agw
