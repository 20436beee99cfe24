#include "tools/text_limit.hpp"

#include <fmt/format.h>

namespace agw {

namespace {

bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string limited(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  auto head = most / 2;
  auto tail = text.size() - most / 2;
  while (head > 0 && is_inside_character(text[head])) --head;
  while (tail < text.size() && is_inside_character(text[tail])) ++tail;
  return fmt::format("{}\n\n[… {} bytes left out …]\n\n{}", std::string_view(text).substr(0, head), tail - head,
                     std::string_view(text).substr(tail));
}

}  // namespace agw
