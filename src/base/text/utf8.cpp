#include "base/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include <boost/locale/utf.hpp>

namespace agw {

namespace {

struct InvisibleRange {
  char32_t first;
  char32_t last;
};

/// White_Space and Default_Ignorable_Code_Point of Unicode 16, control characters, the Braille blank and the object
/// replacement character.
constexpr std::array<InvisibleRange, 21> invisible{
    {{0, 0x20},        {0x7f, 0xa0},     {0xad, 0xad},      {0x34f, 0x34f},   {0x61c, 0x61c},   {0x115f, 0x1160},
     {0x1680, 0x1680}, {0x17b4, 0x17b5}, {0x180b, 0x180f},  {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f},
     {0x2800, 0x2800}, {0x3000, 0x3000}, {0x3164, 0x3164},  {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
     {0xfff0, 0xfff8}, {0xfffc, 0xfffc}, {0xe0000, 0xe0fff}}};

}  // namespace

std::string_view utf8_prefix(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && continues_character(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

std::string shortened(std::string_view text, std::size_t bytes) {
  return std::string(utf8_prefix(text, bytes)) + (text.size() > bytes ? "…" : "");
}

std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (!continues_character(text[end]) && seen++ == count) break;
  }
  return text.substr(0, end);
}

std::int64_t count_characters(std::string_view text) {
  return std::ranges::count_if(text, std::not_fn(continues_character));
}

bool is_invisible(std::string_view utf8) {
  const auto* at = utf8.data();
  const auto* const end = at + utf8.size();
  while (at != end) {
    const char32_t c = boost::locale::utf::utf_traits<char>::decode(at, end);
    const auto has_it = [c](const InvisibleRange& range) { return c >= range.first && c <= range.last; };
    if (std::ranges::none_of(invisible, has_it)) return false;
  }
  return true;
}

}  // namespace agw
