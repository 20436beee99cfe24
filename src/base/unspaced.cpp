#include "base/unspaced.hpp"

#include <algorithm>
#include <array>

namespace agw {

namespace {

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

struct Character {
  char32_t code = 0;
  std::size_t size = 1;
};

/// The first of a text; what is no UTF-8 is a character without a meaning.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (size > text.size()) return {};
  char32_t code = size == 1 ? lead & 0x7f : lead & (0xff >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  return {code, size};
}

}  // namespace

bool has_unspaced(std::string_view utf8) {
  while (!utf8.empty()) {
    const auto [code, size] = first_of(utf8);
    if (is_in(letters, code)) return true;
    utf8.remove_prefix(size);
  }
  return false;
}

std::vector<std::string_view> between_signs(std::string_view utf8) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t place = 0; place <= utf8.size();) {
    const auto [code, size] = place < utf8.size() ? first_of(utf8.substr(place)) : Character{signs.front().first};
    if (is_in(signs, code)) {
      if (place > begin) parts.push_back(utf8.substr(begin, place - begin));
      begin = place + size;
    }
    place += size;
  }
  return parts;
}

}  // namespace agw
