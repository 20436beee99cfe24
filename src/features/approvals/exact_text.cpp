#include "features/approvals/exact_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

using Range = std::pair<char32_t, char32_t>;

constexpr std::size_t max_spaces = 24;
constexpr std::size_t max_line_breaks = 5;
constexpr std::size_t max_combining = 3;

/// Control, format and private-use characters, and all spaces except U+0020.
constexpr std::array invisible{
    Range{0x00, 0x08},       Range{0x0B, 0x1F},     Range{0x7F, 0xA0},       Range{0xAD, 0xAD},
    Range{0x034F, 0x034F},   Range{0x061C, 0x061C}, Range{0x115F, 0x1160},   Range{0x1680, 0x1680},
    Range{0x17B4, 0x17B5},   Range{0x180B, 0x180F}, Range{0x2000, 0x200F},   Range{0x2028, 0x202F},
    Range{0x205F, 0x206F},   Range{0x2800, 0x2800}, Range{0x3000, 0x3000},   Range{0x3164, 0x3164},
    Range{0xD800, 0xF8FF},   Range{0xFE00, 0xFE0F}, Range{0xFEFF, 0xFEFF},   Range{0xFFA0, 0xFFA0},
    Range{0xFFF0, 0xFFFC},   Range{0xFFFE, 0xFFFF}, Range{0x1BCA0, 0x1BCA3}, Range{0x1D173, 0x1D17A},
    Range{0xE0000, 0x10FFFF}};

constexpr std::array combining{Range{0x0300, 0x034E}, Range{0x0350, 0x036F}, Range{0x1AB0, 0x1AFF},
                               Range{0x1DC0, 0x1DFF}, Range{0x20D0, 0x20FF}, Range{0xFE20, 0xFE2F}};

/// Alphabets with letters that look like Latin ones: Greek, Cyrillic, Armenian, Cherokee, Coptic, Lisu.
constexpr std::array look_alike{Range{0x0370, 0x058F}, Range{0x13A0, 0x13FF}, Range{0x1C80, 0x1C8F},
                                Range{0x1F00, 0x1FFF}, Range{0x2C80, 0x2CFF}, Range{0x2DE0, 0x2DFF},
                                Range{0xA4D0, 0xA4FF}, Range{0xA640, 0xA69F}, Range{0xAB70, 0xABBF}};

/// Full-width and mathematical forms of ASCII characters.
constexpr std::array imitations{Range{0xFF01, 0xFF5E}, Range{0x1D400, 0x1D7FF}};

constexpr bool are_ascending(const auto& ranges) {
  return std::ranges::all_of(ranges, [](const Range& range) { return range.first <= range.second; }) &&
         std::ranges::adjacent_find(
             ranges, [](const Range& one, const Range& next) { return next.first <= one.second; }) == ranges.end();
}
static_assert(are_ascending(invisible));
static_assert(are_ascending(combining));
static_assert(are_ascending(look_alike));
static_assert(are_ascending(imitations));

bool is_in(const auto& ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](const Range& range) { return c >= range.first && c <= range.second; });
}

bool is_white(char32_t c) { return c == ' ' || c == '\t' || c == '\n'; }

bool is_latin(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0x24F) || (c >= 0x1E00 && c <= 0x1EFF);
}

bool is_of_word(char32_t c) { return is_latin(c) || is_in(look_alike, c); }

struct Character {
  char32_t code = 0;
  std::string_view bytes;
};

char32_t code_of(std::string_view bytes) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(bytes[index]); };
  AGW_ASSERT(!bytes.empty());
  AGW_ASSERT(bytes.size() <= 4);
  if (bytes.size() == 1) return byte(0);
  char32_t code = byte(0) & (0x7FU >> bytes.size());
  for (std::size_t i = 1; i < bytes.size(); ++i) code = (code << 6) | (byte(i) & 0x3FU);
  return code;
}

std::vector<Character> characters_of(std::string_view valid) {
  std::vector<Character> all;
  all.reserve(valid.size());
  while (!valid.empty()) {
    const auto bytes = first_characters(valid, 1);
    all.push_back({code_of(bytes), bytes});
    valid.remove_prefix(bytes.size());
  }
  return all;
}

using Characters = std::vector<Character>;
using Place = Characters::const_iterator;

std::string code_point(char32_t code) { return fmt::format("U+{:04X}", static_cast<unsigned>(code)); }

/// Returns the first character after `from` for which `fits` is false.
Place end_of_run(Place from, Place end, auto fits) {
  return std::find_if_not(from, end, [&](const Character& one) { return fits(one.code); });
}

std::string spaces(Place from, Place to) {
  const auto length = static_cast<std::size_t>(to - from);
  std::string text;
  for (auto at = from; at != to; ++at) text += at->bytes;
  if (length <= max_spaces) return text;
  return fmt::format("⟨{} {}⟩", length, text.find('\t') == text.npos ? "spaces" : "spaces and tabs");
}

std::string blank(Place from, Place to) {
  const auto breaks = std::count_if(from, to, [](const Character& one) { return one.code == '\n'; });
  std::string text;
  if (static_cast<std::size_t>(breaks) > max_line_breaks) {
    text = fmt::format("⟨{} line breaks⟩\n", breaks);
    while (std::any_of(from, to, [](const Character& one) { return one.code == '\n'; })) ++from;
  }
  while (from != to) {
    const auto line_end = std::find_if(from, to, [](const Character& one) { return one.code == '\n'; });
    text += spaces(from, line_end);
    from = line_end;
    if (from != to) {
      text += '\n';
      ++from;
    }
  }
  return text;
}

std::string repeated(Place from, Place to) {
  const auto count = to - from;
  return count == 1 ? fmt::format("⟨{}⟩", code_point(from->code))
                    : fmt::format("⟨{} × {}⟩", code_point(from->code), count);
}

std::string word(Place from, Place to) {
  const bool is_mixed = std::any_of(from, to, [](const Character& one) { return is_latin(one.code); });
  std::string text;
  for (; from != to; ++from) {
    text += from->bytes;
    if (is_mixed && is_in(look_alike, from->code)) text += fmt::format("⟨{}⟩", code_point(from->code));
  }
  return text;
}

std::string marks(Place from, Place to) {
  const auto count = static_cast<std::size_t>(to - from);
  if (count > max_combining) return fmt::format("⟨{} combining marks⟩", count);
  std::string text;
  for (; from != to; ++from) text += from->bytes;
  return text;
}

}  // namespace

std::string exact_text(std::string_view text) {
  const auto valid = to_utf8(text);
  const auto all = characters_of(valid);
  std::string out;
  for (auto at = all.begin(); at != all.end();) {
    const auto code = at->code;
    auto end = at + 1;
    if (is_white(code)) {
      end = end_of_run(at, all.end(), is_white);
      out += blank(at, end);
    } else if (is_in(invisible, code)) {
      end = end_of_run(at, all.end(), [code](char32_t c) { return c == code; });
      out += repeated(at, end);
    } else if (is_in(combining, code)) {
      end = end_of_run(at, all.end(), [](char32_t c) { return is_in(combining, c); });
      out += marks(at, end);
    } else if (is_of_word(code)) {
      end = end_of_run(at, all.end(), is_of_word);
      out += word(at, end);
    } else {
      out += at->bytes;
      if (is_in(imitations, code)) out += fmt::format("⟨{}⟩", code_point(code));
    }
    at = end;
  }
  return out;
}

}  // namespace agw
