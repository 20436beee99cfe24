#include <algorithm>
#include <array>

#include <boost/locale/encoding_utf.hpp>

#include "base/text/utf8.hpp"

namespace agw {

namespace {

/// The capitals from `first` to `last` in steps of `step`; `distance` is added to get the small letter.
struct Capitals {
  char32_t first;
  char32_t last;
  char32_t step;
  char32_t distance;
};

constexpr std::array capitals{
    Capitals{0xC0, 0xD6, 1, 32},   Capitals{0xD8, 0xDE, 1, 32},    Capitals{0x100, 0x12E, 2, 1},
    Capitals{0x132, 0x136, 2, 1},  Capitals{0x139, 0x147, 2, 1},   Capitals{0x14A, 0x176, 2, 1},
    Capitals{0x179, 0x17D, 2, 1},  Capitals{0x1CD, 0x1DB, 2, 1},   Capitals{0x1DE, 0x1EE, 2, 1},
    Capitals{0x1F8, 0x21E, 2, 1},  Capitals{0x386, 0x386, 1, 38},  Capitals{0x388, 0x38A, 1, 37},
    Capitals{0x38C, 0x38C, 1, 64}, Capitals{0x38E, 0x38F, 1, 63},  Capitals{0x391, 0x3A1, 1, 32},
    Capitals{0x3A3, 0x3AB, 1, 32}, Capitals{0x400, 0x40F, 1, 80},  Capitals{0x410, 0x42F, 1, 32},
    Capitals{0x460, 0x480, 2, 1},  Capitals{0x48A, 0x4BE, 2, 1},   Capitals{0x4D0, 0x52E, 2, 1},
    Capitals{0x531, 0x556, 1, 48}, Capitals{0x1E00, 0x1E94, 2, 1}, Capitals{0x1EA0, 0x1EFE, 2, 1},
};

char32_t small_letter(char32_t c) {
  if (c < 0x80) return c >= U'A' && c <= U'Z' ? c + 32 : c;
  if (c == 0x178) return 0xFF;
  const auto found = std::ranges::find_if(capitals, [c](const Capitals& range) {
    return c >= range.first && c <= range.last && (c - range.first) % range.step == 0;
  });
  return found == capitals.end() ? c : c + found->distance;
}

}  // namespace

std::string lower_case(std::string_view utf8) {
  auto text = boost::locale::conv::utf_to_utf<char32_t>(utf8.data(), utf8.data() + utf8.size());
  std::ranges::transform(text, text.begin(), small_letter);
  return boost::locale::conv::utf_to_utf<char>(text);
}

}  // namespace agw
