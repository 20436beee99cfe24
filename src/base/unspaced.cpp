#include "base/unspaced.hpp"

#include <algorithm>
#include <array>

#include <boost/locale/utf.hpp>

namespace agw {

namespace {

/// What it cannot decode is in no range below.
using Utf8 = boost::locale::utf::utf_traits<char>;

struct Range {
  char32_t first;
  char32_t last;
};

/// Thai to Lao, Myanmar, Khmer, kana to hangul and what belongs to them, and the ideographs of the higher planes.
constexpr std::array<Range, 7> letters{{{0x0e00, 0x0eff},
                                        {0x1000, 0x109f},
                                        {0x1780, 0x17ff},
                                        {0x2e80, 0x2fdf},
                                        {0x3041, 0xa4cf},
                                        {0xac00, 0xfaff},
                                        {0x20000, 0x3ffff}}};
/// General punctuation, that of Chinese and Japanese (but for `々〆〇`), and the wide forms of ASCII's.
constexpr std::array<Range, 7> signs{{{0x2000, 0x206f},
                                      {0x3000, 0x3004},
                                      {0x3008, 0x3020},
                                      {0xff00, 0xff0f},
                                      {0xff1a, 0xff20},
                                      {0xff3b, 0xff40},
                                      {0xff5b, 0xff65}}};

bool is_in(const auto& ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](const Range& range) { return c >= range.first && c <= range.last; });
}

}  // namespace

bool has_unspaced(std::string_view utf8) {
  const auto* const end = utf8.data() + utf8.size();
  for (const auto* at = utf8.data(); at != end;) {
    if (is_in(letters, Utf8::decode(at, end))) return true;
  }
  return false;
}

std::vector<std::string_view> between_signs(std::string_view utf8) {
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
