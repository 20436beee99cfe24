#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace agw {

/// Whether `text` contains at least one of the words.
inline bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [text](auto word) { return text.find(word) != text.npos; });
}

}  // namespace agw
