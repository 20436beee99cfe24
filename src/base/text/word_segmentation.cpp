#include "base/text/word_segmentation.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/locale/utf.hpp>

namespace agw {

namespace {

/// A value outside all ranges below, for invalid bytes.
using Utf8 = boost::locale::utf::utf_traits<char>;

struct CodePointRange {
  char32_t first;
  char32_t last;
};

/// Thai to Lao, Myanmar, Khmer, kana to hangul and related scripts, and the ideographs of the higher planes.
constexpr std::array<CodePointRange, 7> letters{{{0x0e00, 0x0eff},
                                                 {0x1000, 0x109f},
                                                 {0x1780, 0x17ff},
                                                 {0x2e80, 0x2fdf},
                                                 {0x3041, 0xa4cf},
                                                 {0xac00, 0xfaff},
                                                 {0x20000, 0x3ffff}}};
/// Latin to Georgian, Ethiopic to Tagalog, Mongolian to extended Greek, full-width ASCII, without combining marks.
/// Checked after `letters`, because some of those lie within these ranges.
constexpr std::array<CodePointRange, 8> spaced_letters{{{'A', 'Z'},
                                                        {'a', 'z'},
                                                        {0xc0, 0xd6},
                                                        {0xd8, 0xf6},
                                                        {0xf8, 0x2c1},
                                                        {0x370, 0x1fff},
                                                        {0xff21, 0xff3a},
                                                        {0xff41, 0xff5a}}};
constexpr std::array<CodePointRange, 2> digits{{{'0', '9'}, {0xff10, 0xff19}}};
/// Combining marks, and `々〆〇`.
constexpr std::array<CodePointRange, 2> marks{{{0x300, 0x36f}, {0x3005, 0x3007}}};
/// General punctuation, Chinese and Japanese punctuation (except `々〆〇`), and full-width ASCII.
constexpr std::array<CodePointRange, 7> signs{{{0x2000, 0x206f},
                                               {0x3000, 0x3004},
                                               {0x3008, 0x3020},
                                               {0xff00, 0xff0f},
                                               {0xff1a, 0xff20},
                                               {0xff3b, 0xff40},
                                               {0xff5b, 0xff65}}};

bool is_in(const auto& ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](const CodePointRange& range) { return c >= range.first && c <= range.last; });
}

enum class Kind { unspaced, spaced, digit, mark, sign };

Kind kind_of(char32_t c) {
  if (is_in(letters, c)) return Kind::unspaced;
  if (is_in(spaced_letters, c)) return Kind::spaced;
  if (is_in(digits, c)) return Kind::digit;
  return is_in(marks, c) ? Kind::mark : Kind::sign;
}

/// A quick check: every letter of a script without spaces starts with a byte of at least 0xe0. Quotation marks, dashes
/// and symbols of other scripts do too: they are U+2000 to U+2E7F, before the first of those letters with 0xe2.
bool may_have_unsegmented_script(std::string_view utf8) {
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    if (byte < 0xe0) continue;
    const bool is_symbol = byte == 0xe2 && i + 1 < utf8.size() && static_cast<unsigned char>(utf8[i + 1]) < 0xba;
    if (!is_symbol) return true;
  }
  return false;
}

}  // namespace

bool has_unsegmented_script(std::string_view utf8) {
  const auto* const end = utf8.data() + utf8.size();
  for (const auto* at = utf8.data(); at != end;) {
    if (is_in(letters, Utf8::decode(at, end))) return true;
  }
  return false;
}

std::size_t script_run_length(std::string_view utf8) {
  const auto* const end = utf8.data() + utf8.size();
  auto script = Kind::sign;
  const char* number = nullptr;  // start of the immediately preceding digits
  for (const auto* at = utf8.data(); at != end;) {
    const auto* const character = at;
    const auto kind = kind_of(Utf8::decode(at, end));
    if (kind == Kind::mark) continue;
    if (kind == Kind::digit) {
      if (!number) number = character;
      continue;
    }
    const bool is_other = kind != Kind::sign && script != Kind::sign && kind != script;
    if (is_other) return static_cast<std::size_t>((kind == Kind::spaced && number ? number : character) - utf8.data());
    script = kind;
    number = nullptr;
  }
  return utf8.size();
}

std::vector<std::string_view> split_by_script(std::string_view utf8) {
  if (!may_have_unsegmented_script(utf8)) return {utf8};
  std::vector<std::string_view> parts;
  while (!utf8.empty()) {
    parts.push_back(utf8.substr(0, script_run_length(utf8)));
    utf8.remove_prefix(parts.back().size());
  }
  return parts;
}

std::string with_word_breaks(std::string_view utf8) {
  return fmt::format("{}", fmt::join(split_by_script(utf8), word_break));
}

std::vector<std::string_view> split_by_punctuation(std::string_view utf8) {
  std::vector<std::string_view> parts;
  const auto* const end = utf8.data() + utf8.size();
  const auto* begin = utf8.data();
  const auto add_until = [&](const char* here) {
    if (here > begin) parts.emplace_back(begin, static_cast<std::size_t>(here - begin));
  };
  for (const auto* at = utf8.data(); at != end;) {
    const auto* const character = at;
    if (!is_in(signs, Utf8::decode(at, end))) continue;
    add_until(character);
    begin = at;
  }
  add_until(end);
  return parts;
}

}  // namespace agw
