#include "features/channels/email/mail_text.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>

namespace agw {

namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t max_introduction = 3;  // lines
constexpr std::size_t min_rule_length = 5;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_blank_line(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

bool is_quoted(std::string_view line) {
  const auto begin = line.find_first_not_of(' ');
  return begin != line.npos && line[begin] == '>';
}

/// `-----Original Message-----` in any language: the line above the quoted mail.
bool is_rule_of_answered_mail(std::string_view line) {
  const auto text = boost::trim_copy(std::string(line));
  const auto dashes = text.find_first_not_of('-');
  return dashes != text.npos && dashes >= min_rule_length && text.ends_with("-----");
}

/// Whether the quoted mail begins here as in Outlook: `From: Ann`, with `Subject: …` in the lines below.
bool begins_answered_head(const Lines& lines, std::size_t at) {
  static constexpr std::array<std::string_view, 5> from = {"From:", "Von:", "De:", "Da:", "Van:"};
  static constexpr std::array<std::string_view, 6> subject = {
      "Subject:", "Betreff:", "Objet:", "Asunto:", "Oggetto:", "Onderwerp:"};
  const auto begins_with_one = [](std::string_view line, const auto& words) {
    return std::ranges::any_of(words, [&](std::string_view word) {
      return boost::istarts_with(boost::trim_left_copy_if(std::string(line), [](char c) { return c == '*'; }), word);
    });
  };
  if (!begins_with_one(lines[at], from)) return false;
  const auto end = std::min(lines.size(), at + 6);
  return std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(at), lines.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](std::string_view line) { return begins_with_one(line, subject); });
}

std::size_t end_of_own_lines(const Lines& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] == "-- " || lines[i] == "--" || is_rule_of_answered_mail(lines[i]) || begins_answered_head(lines, i))
      return i;
  }
  return lines.size();
}

void drop_blank_end(Lines& lines) {
  while (!lines.empty() && is_blank_line(lines.back())) lines.pop_back();
}

/// `On Monday, Ann wrote:`, over one or a few lines.
void drop_introduction(Lines& lines) {
  drop_blank_end(lines);
  if (lines.empty() || !boost::trim_right_copy(std::string(lines.back())).ends_with(':')) return;
  for (std::size_t count = 0; count < max_introduction && !lines.empty() && !is_blank_line(lines.back()); ++count)
    lines.pop_back();
}

void drop_quote_below(Lines& lines) {
  drop_blank_end(lines);
  const auto size = lines.size();
  while (!lines.empty() && (is_quoted(lines.back()) || is_blank_line(lines.back()))) lines.pop_back();
  if (lines.size() < size) drop_introduction(lines);
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const auto line : lines) {
    text += line;
    text += '\n';
  }
  return boost::trim_copy(text);
}

}  // namespace

std::string own_text(std::string_view text) {
  auto lines = lines_of(text);
  lines.resize(end_of_own_lines(lines));
  drop_quote_below(lines);
  auto own = joined(lines);
  return own.empty() ? boost::trim_copy(std::string(text)) : own;
}

std::string_view bare_subject(std::string_view subject) {
  static constexpr std::array<std::string_view, 9> prefixes = {
      "re:", "aw:", "fwd:", "fw:", "wg:", "sv:", "rv:", "tr:", "antw:"};
  for (bool has_more = true; has_more;) {
    subject.remove_prefix(std::min(subject.find_first_not_of(' '), subject.size()));
    const auto found =
        std::ranges::find_if(prefixes, [subject](auto prefix) { return boost::istarts_with(subject, prefix); });
    has_more = found != prefixes.end();
    if (has_more) subject.remove_prefix(found->size());
  }
  return subject;
}

}  // namespace agw
