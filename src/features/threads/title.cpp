#include "features/threads/title.hpp"

#include <algorithm>
#include <cstddef>

#include "base/utf8.hpp"

namespace agw {

namespace {

constexpr std::size_t most_words = 8;
constexpr std::size_t most_bytes = 60;
constexpr std::string_view blanks = " \t\r\n\v\f";
constexpr std::string_view marks = "#>*-_`~=+|";  // of Markdown: headings, quotes, lists, rules

std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  const auto word = rest.substr(0, rest.find_first_of(blanks));
  rest.remove_prefix(word.size());
  return word;
}

}  // namespace

std::string title_from(std::string_view content) {
  std::string title;
  std::size_t words = 0;
  for (auto word = take_word(content); !word.empty(); word = take_word(content)) {
    if (title.empty() && word.find_first_not_of(marks) == word.npos) continue;
    if (words == most_words || (words > 0 && title.size() + 1 + word.size() > most_bytes)) return title + "…";
    if (words++ > 0) title += ' ';
    const auto fitting = utf8_prefix(word, most_bytes);
    title += fitting;
    if (fitting.size() < word.size()) return title + "…";
  }
  return title;
}

}  // namespace agw
