#include "base/variable_name.hpp"

#include <algorithm>

namespace agw {

bool is_variable_name(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_word = [&](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || is_digit(c) || c == '_';
  };
  return !text.empty() && std::ranges::all_of(text, is_word) && !is_digit(text[0]);
}

}  // namespace agw
