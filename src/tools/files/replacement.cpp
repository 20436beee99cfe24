#include "tools/files/replacement.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/error.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr std::size_t max_named_lines = 10;
constexpr std::size_t max_compared_text = std::size_t{1024} * 1024;
constexpr std::size_t max_compared_lines = 50;
constexpr std::size_t max_shown_place = 4000;

/// Whether the text has lines and each ends with CR LF.
bool has_only_crlf(std::string_view text) {
  auto at = text.find('\n');
  if (at == text.npos) return false;
  for (; at != text.npos; at = text.find('\n', at + 1)) {
    if (at == 0 || text[at - 1] != '\r') return false;
  }
  return true;
}

std::string with_crlf(std::string_view text) {
  std::string converted;
  for (const char c : text) {
    if (c == '\n') converted += '\r';
    converted += c;
  }
  return converted;
}

/// Models see no difference between the line ends, so theirs become those of the file.
Replacement with_line_ends_of(std::string_view text, const Replacement& wanted) {
  const bool names_cr = (wanted.old_string + wanted.new_string).find('\r') != std::string::npos;
  if (names_cr || !has_only_crlf(text)) return wanted;
  return {with_crlf(wanted.old_string), with_crlf(wanted.new_string), wanted.all};
}

std::vector<std::string_view> trimmed_lines(std::string_view text, std::size_t max_lines) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size() && lines.size() < max_lines;) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    const auto begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    lines.push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
    at = end + 1;
  }
  return lines;
}

std::string without_line_numbers(std::string_view text) {
  std::string rest;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    auto line = text.substr(at, end - at);
    const auto digit = std::min(line.find_first_not_of(' '), line.size());
    const auto tab = std::min(line.find_first_not_of("0123456789", digit), line.size());
    if (tab > digit && tab < line.size() && line[tab] == '\t') line.remove_prefix(tab + 1);
    rest += line;
    at = end;
  }
  return rest;
}

/// The place in the text of which at least half is in `old_string` if spaces around lines are ignored, with line
/// numbers; empty if there is none.
std::string most_similar_place(std::string_view text, std::string_view old_string) {
  if (text.size() > max_compared_text) return {};
  const auto lines = trimmed_lines(text, text.size());
  const auto wanted = trimmed_lines(old_string, max_compared_lines);
  std::size_t all = 0;
  for (const auto line : wanted) all += line.size();
  std::size_t best = 0;
  std::size_t best_at = 0;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    std::size_t same = 0;
    for (std::size_t i = 0; i < wanted.size() && at + i < lines.size(); ++i) {
      if (lines[at + i] == wanted[i]) same += wanted[i].size();
    }
    if (same > best) best_at = at;
    best = std::max(best, same);
  }
  if (best == 0 || best * 2 < all) return {};
  std::string place;
  for (auto at = best_at; at < std::min(best_at + wanted.size(), lines.size()); ++at) {
    auto begin = lines[at].data();
    while (begin > text.data() && begin[-1] != '\n') --begin;
    const auto end = lines[at].data() + lines[at].size();
    place += fmt::format("{:6}\t{}\n", at + 1, to_utf8({begin, end}));
  }
  return shortened(place, max_shown_place);
}

[[noreturn]] void refuse_missing(std::string_view text, const std::string& old_string) {
  std::string why = "old_string was not found: it must match the file exactly, including spaces and line ends";
  const auto bare = without_line_numbers(old_string);
  if (bare != old_string && text.find(bare) != text.npos) {
    why = "old_string was not found: leave out the line numbers that Read shows";
  } else if (const auto place = most_similar_place(text, old_string); !place.empty()) {
    why += ". The most similar lines are:\n" + place;
  }
  throw BadRequest(why);
}

}  // namespace

ReplaceResult replace_in(std::string_view text, const Replacement& given) {
  if (given.old_string.empty()) throw BadRequest("old_string is empty; use Write to make a file");
  if (given.old_string == given.new_string) throw BadRequest("old_string and new_string are the same");
  const auto wanted = with_line_ends_of(text, given);
  ReplaceResult replaced;
  std::vector<std::int64_t> lines;
  std::int64_t line = 1;
  std::size_t from = 0;
  for (auto at = text.find(wanted.old_string); at != text.npos; at = text.find(wanted.old_string, from)) {
    const auto between = text.substr(from, at - from);
    line += std::ranges::count(between, '\n');
    if (lines.size() < max_named_lines) lines.push_back(line);
    line += std::ranges::count(wanted.old_string, '\n');
    replaced.text += between;
    replaced.text += wanted.new_string;
    from = at + wanted.old_string.size();
    ++replaced.count;
  }
  replaced.text += text.substr(from);
  if (replaced.count == 0) refuse_missing(text, wanted.old_string);
  if (replaced.count > 1 && !wanted.all) {
    throw BadRequest(
        fmt::format("old_string was found {} times, in lines {}{}: include more of the surrounding text, or set "
                    "replace_all",
                    replaced.count, fmt::join(lines, ", "), replaced.count > lines.size() ? ", …" : ""));
  }
  return replaced;
}

}  // namespace agw
