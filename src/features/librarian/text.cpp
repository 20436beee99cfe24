#include "features/librarian/text.hpp"

#include <algorithm>

#include <boost/algorithm/string.hpp>
#include <boost/algorithm/string/trim_all.hpp>

#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr std::size_t usual_piece = 32;
constexpr std::size_t max_piece_length = 64;
constexpr std::int64_t characters_per_token = 4;

}  // namespace

std::string on_one_line(std::string_view text, std::size_t bytes) {
  // White space shrinks, so twice the length is read. Not all of it, because the text may have a megabyte.
  auto line = std::string(utf8_prefix(text, 2 * bytes));
  const bool is_cut = line.size() < text.size();
  std::ranges::replace_if(line, [](char c) { return white_space.find(c) != white_space.npos; }, ' ');
  boost::trim_all(line);
  if (line.size() <= bytes && !is_cut) return line;
  return boost::trim_right_copy(std::string(utf8_prefix(line, bytes))) + "…";
}

std::string first_sentence(std::string_view text, std::size_t bytes) {
  text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
  text = text.substr(0, text.find('\n'));
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (std::string_view(".!?").find(text[i]) != std::string_view::npos && text[i + 1] == ' ') {
      text = text.substr(0, i + 1);
      break;
    }
  }
  return on_one_line(text, bytes);
}

std::string_view next_piece(std::string_view text) {
  if (text.size() <= usual_piece) return text;
  const auto blank = text.find_first_of(white_space, usual_piece);
  const auto end = std::min(blank == text.npos ? text.size() : blank + 1, text.size());
  return utf8_prefix(text, std::min(end, max_piece_length));
}

std::int64_t token_estimate(std::string_view text) {
  return (count_characters(text) + characters_per_token - 1) / characters_per_token;
}

}  // namespace agw
