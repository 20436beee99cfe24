#include <algorithm>
#include <cstddef>

#include "base/text/utf8.hpp"
#include "features/threads/types.hpp"

namespace agw {

namespace {

constexpr std::size_t max_words = 8;
constexpr std::size_t max_bytes = 60;
constexpr std::string_view title_whitespace = " \t\r\n\v\f";
constexpr std::string_view marks = "#>*-_`~=+|";  // of Markdown: headings, quotes, lists, rules

std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(title_whitespace), rest.size()));
  const auto word = rest.substr(0, rest.find_first_of(title_whitespace));
  rest.remove_prefix(word.size());
  return word;
}

}  // namespace

std::string title_from(std::string_view content) {
  std::string title;
  std::size_t words = 0;
  for (auto word = take_word(content); !word.empty(); word = take_word(content)) {
    if (title.empty() && word.find_first_not_of(marks) == word.npos) continue;
    if (words == max_words || (words > 0 && title.size() + 1 + word.size() > max_bytes)) return title + "…";
    if (words++ > 0) title += ' ';
    const auto fitting = utf8_prefix(word, max_bytes);
    title += fitting;
    if (fitting.size() < word.size()) return title + "…";
  }
  return title;
}

}  // namespace agw
