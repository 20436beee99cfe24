#include "base/id.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <span>
#include <system_error>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

void fill_random(std::span<unsigned char> bytes) {
  while (!bytes.empty()) {
    const auto got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
    if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

/// Buffers random bytes: a system call per id would cost more than the rest of the id.
unsigned char random_byte() {
  thread_local std::array<unsigned char, 1024> stock;
  thread_local std::size_t used = stock.size();
  if (used == stock.size()) {
    fill_random(stock);
    used = 0;
  }
  return stock[used++];
}

/// A UUIDv7 (RFC 9562, section 5.7) for this time. `bytes` provides the bytes from the seventh on.
std::string id_with(std::uint64_t time, std::array<unsigned char, 16> bytes) {
  for (unsigned i = 0; i < 6; ++i) bytes[i] = static_cast<unsigned char>(time >> (40 - 8 * i));
  bytes[6] = static_cast<unsigned char>(0x70 | (bytes[6] & 0x0f));
  bytes[8] = static_cast<unsigned char>(0x80 | (bytes[8] & 0x3f));

  std::string id(36, '-');
  auto out = id.begin();
  for (unsigned i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++out;
    *out++ = hex_digits[bytes[i] >> 4];
    *out++ = hex_digits[bytes[i] & 15];
  }
  AGW_ASSERT(out == id.end());
  AGW_DEBUG_ASSERT(is_uuid(id));
  return id;
}

}  // namespace

std::string new_id() {
  using namespace std::chrono;
  std::array<unsigned char, 16> bytes;
  for (unsigned i = 6; i < 16; ++i) bytes[i] = random_byte();
  return id_with(
      static_cast<std::uint64_t>(duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count()), bytes);
}

std::string id_of_key(std::string_view owner, std::string_view key) {
  std::string text(owner);
  text += '\0';
  const auto digest = sha256(text += key);
  std::array<unsigned char, 16> bytes;
  std::copy_n(digest.begin(), bytes.size(), bytes.begin());
  return id_with(0, bytes);
}

std::optional<Timestamp> time_of_id(std::string_view id) {
  if (!is_uuid(id) || id[14] != '7') return std::nullopt;
  const auto digits = std::string(id.substr(0, 8)) + std::string(id.substr(9, 4));
  std::int64_t milliseconds = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), milliseconds, 16);
  return Timestamp(std::chrono::milliseconds(milliseconds));
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  fill_random({reinterpret_cast<unsigned char*>(raw.data()), raw.size()});
  return to_hex(raw);
}

}  // namespace agw
