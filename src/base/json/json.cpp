#include "base/json/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/text/ascii.hpp"

namespace agw {

namespace {

/// The length of the valid UTF-8 sequence at the start of `text` (RFC 3629), 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return continues(1) ? 2 : 0;
  if (first < 0xf0) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    if (first == 0xed && byte(1) > 0x9f) return 0;
    return 3;
  }
  if (first > 0xf4 || !continues(1) || !continues(2) || !continues(3)) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return 4;
}

void write_value(std::string& out, const json::value& value);

void write_array(std::string& out, const json::array& array) {
  out += '[';
  for (bool first = true; const auto& element : array) {
    if (!std::exchange(first, false)) out += ',';
    write_value(out, element);
  }
  out += ']';
}

void write_object(std::string& out, const json::object& object) {
  out += '{';
  for (bool first = true; const auto& member : object) {
    if (!std::exchange(first, false)) out += ',';
    write_json(out, std::string_view(member.key()));
    out += ':';
    write_value(out, member.value());
  }
  out += '}';
}

template <class Integer>
void write_integer(std::string& out, Integer number) {
  std::array<char, 24> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), result.ptr);
}

/// Fast path: most times and amounts have up to three decimals and need no search for the shortest text. Returns false
/// for other numbers, and for integers, some of which are shorter with an exponent (`1e+05`).
bool write_thousandths(std::string& out, double number) {
  if (!(number > 0 && number < 1e12)) return false;
  const auto thousandths = std::llround(number * 1000);
  if (thousandths % 1000 == 0 || static_cast<double>(thousandths) / 1000 != number) return false;
  write_integer(out, thousandths / 1000);
  out += '.';
  for (auto rest = thousandths % 1000; rest != 0; rest = rest * 10 % 1000) out += static_cast<char>('0' + rest / 100);
  return true;
}

bool needs_no_escape(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

/// Whether one of eight bytes may need an escape: always if one does.
bool may_need_escape(std::uint64_t bytes) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  // Sets the highest bit of each byte that is below `limit` (at most 128), and perhaps of bytes above it.
  const auto below = [](std::uint64_t each, std::uint64_t limit) { return (each - ones * limit) & ~each; };
  const auto found = below(bytes, 0x20) | below(bytes ^ (ones * '"'), 1) | below(bytes ^ (ones * '\\'), 1);
  return (found & (ones * 0x80)) != 0;
}

template <class Integer>
Integer load(const char* bytes) {
  Integer value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// The same of the last eight bytes of `text`, which has at least four: of a shorter one, all of them, some twice.
bool end_may_need_escape(std::string_view text) {
  const auto* end = text.data() + text.size();
  if (text.size() >= sizeof(std::uint64_t)) return may_need_escape(load<std::uint64_t>(end - sizeof(std::uint64_t)));
  return may_need_escape(std::uint64_t{load<std::uint32_t>(text.data())} << 32 | load<std::uint32_t>(end - 4));
}

/// The number of bytes before the first that needs an escape. Checks eight at a time, because most texts need few
/// escapes.
std::size_t plain_length(std::string_view text) {
  constexpr auto step = sizeof(std::uint64_t);
  std::size_t length = 0;
  while (text.size() - length >= step && !may_need_escape(load<std::uint64_t>(text.data() + length))) length += step;
  const bool is_at_end = text.size() - length < step;
  if (is_at_end && text.size() >= 4 && !end_may_need_escape(text)) return text.size();
  while (length < text.size() && needs_no_escape(text[length])) ++length;
  return length;
}

/// By byte: 0 if it needs no escape, `u` if it needs one by number, else the letter after the backslash.
constexpr auto escapes = [] {
  std::array<char, 256> letters{};
  for (int control = 0; control < 0x20; ++control) letters[control] = 'u';
  letters['"'] = '"';
  letters['\\'] = '\\';
  letters['\n'] = 'n';
  letters['\r'] = 'r';
  letters['\t'] = 't';
  letters['\b'] = 'b';
  letters['\f'] = 'f';
  return letters;
}();
constexpr std::size_t max_escape = 6;  // \u0000

/// Writes up to `max_escape` bytes. Returns their end.
char* write_escaped(char* out, char c) {
  static constexpr std::string_view hex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  const auto letter = escapes[byte];
  if (letter == 0) {
    *out++ = c;
    return out;
  }
  *out++ = '\\';
  *out++ = letter;
  if (letter != 'u') return out;
  *out++ = '0';
  *out++ = '0';
  *out++ = hex[byte >> 4];
  *out++ = hex[byte & 15];
  return out;
}

/// Writes the beginning of a text that needs escapes. Returns the number of bytes that it took. Appending a block at a
/// time makes a text of nothing but line ends as quick as others.
std::size_t write_block(std::string& out, std::string_view text) {
  constexpr auto step = sizeof(std::uint64_t);
  std::array<char, 1024> block;
  auto* at = block.data();
  const auto* const last = block.data() + block.size() - step * max_escape;
  std::size_t taken = 0;
  while (taken < text.size() && at <= last) {
    const auto count = std::min(step, text.size() - taken);
    if (count == step && !may_need_escape(load<std::uint64_t>(text.data() + taken))) {
      std::memcpy(at, text.data() + taken, step);
      at += step;
    } else {
      for (const auto c : text.substr(taken, count)) at = write_escaped(at, c);
    }
    taken += count;
  }
  out.append(block.data(), at);
  return taken;
}

void write_value(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      return;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case json::kind::int64:
      return write_integer(out, value.get_int64());
    case json::kind::uint64:
      return write_integer(out, value.get_uint64());
    case json::kind::double_:
      return write_json(out, value.get_double());
    case json::kind::string:
      return write_json(out, std::string_view(value.get_string()));
    case json::kind::array:
      return write_array(out, value.get_array());
    case json::kind::object:
      return write_object(out, value.get_object());
  }
}

}  // namespace

void write_json(std::string& out, const json::value& value) { write_value(out, value); }

void write_json(std::string& out, std::string_view text) {
  out += '"';
  const auto plain = plain_length(text);
  out += text.substr(0, plain);
  text.remove_prefix(plain);
  while (!text.empty()) text.remove_prefix(write_block(out, text));
  out += '"';
}

void write_json(std::string& out, double number) {
  if (number == 0) number = 0;  // `-0` would be read as an integer, which has no such zero
  if (write_thousandths(out, number)) return;
  std::array<char, 32> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), result.ptr);
}

std::string to_json(const json::value& value) {
  std::string out;
  write_json(out, value);
  return out;
}

bool is_utf8(std::string_view text) {
  constexpr std::size_t max_block = 64;  // most blocks are ASCII, which takes a few instructions
  while (!text.empty()) {
    const auto block = std::min(text.size(), max_block);
    const auto after = text.size() - block;
    if (is_ascii(text.substr(0, block))) text.remove_prefix(block);
    while (text.size() > after) {
      const auto length = sequence_length(text);
      if (length == 0) return false;
      text.remove_prefix(length);
    }
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto length = sequence_length(text);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      out.append(text, 0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

}  // namespace agw
