#include "base/text/utf8.hpp"

#include <algorithm>
#include <functional>

namespace agw {

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

}  // namespace agw
