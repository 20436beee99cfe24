#include "features/channels/email/mail_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <boost/algorithm/string/erase.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "base/text/ascii.hpp"

namespace agw {

namespace {

using Lines = std::vector<std::string_view>;

constexpr std::ptrdiff_t max_introduction = 3;  // lines
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

constexpr std::array<std::string_view, 11> reply_prefixes = {"re",  "aw",  "sv",   "antw", "odp", "res",
                                                             "rif", "ynt", "回复", "答复", "回覆"};
constexpr std::array<std::string_view, 16> forward_prefixes = {
    "fwd", "fw", "wg", "tr", "rv", "i", "enc", "vb", "vs", "vl", "pd", "ilt", "转发", "轉寄", "転送", "doorst"};

/// Whether the line has nothing but these characters, and blanks that HTML does not break.
bool has_only(std::string_view line, std::string_view characters) {
  auto text = std::string(line);
  boost::erase_all(text, "\u00a0");
  return text.find_first_not_of(characters) == text.npos;
}

bool is_blank_line(std::string_view line) { return has_only(line, " \t"); }

bool is_quoted(std::string_view line) {
  const auto begin = line.find_first_not_of(' ');
  return begin != line.npos && line[begin] == '>';
}

/// `-----Original Message-----` in any language: the line above an answered or forwarded mail. Not the line below the
/// heads of a table, nor that above a key or a certificate.
bool is_rule_of_other_mail(std::string_view line) {
  const auto text = boost::trim_copy(std::string(line));
  const auto dashes = text.find_first_not_of('-');
  if (dashes == text.npos || dashes < min_rule_length || !text.ends_with("-----")) return false;
  const auto words = boost::trim_copy_if(text, boost::is_any_of("- "));
  const bool begins_word =
      !words.empty() && (is_letter(words.front()) || static_cast<unsigned char>(words.front()) >= 0x80);
  return begins_word && !words.starts_with("BEGIN ") && !words.starts_with("END ");
}

/// Removes what may stand before or after a word of a head: `*`, blanks, and the blank that French sets before a colon.
std::string_view without_decoration(std::string_view text) {
  constexpr std::string_view narrow_blank = "\u202f";
  constexpr std::string_view fixed_blank = "\u00a0";
  for (;;) {
    if (text.starts_with('*') || text.starts_with(' '))
      text.remove_prefix(1);
    else if (text.starts_with(fixed_blank))
      text.remove_prefix(fixed_blank.size());
    else if (text.starts_with(narrow_blank))
      text.remove_prefix(narrow_blank.size());
    else
      return text;
  }
}

bool has_colon_first(std::string_view text) { return text.starts_with(':') || text.starts_with("："); }

/// Whether one of the words and a colon begin the line.
bool begins_with_one(std::string_view line, std::span<const std::string_view> words) {
  line = without_decoration(line);
  return std::ranges::any_of(words, [line](std::string_view word) {
    return boost::istarts_with(line, word) && has_colon_first(without_decoration(line.substr(word.size())));
  });
}

/// The subject after the prefix, if one of them begins it.
std::optional<std::string_view> without_prefix(std::string_view subject, std::span<const std::string_view> prefixes) {
  subject = without_decoration(subject);
  for (const auto prefix : prefixes) {
    if (!boost::istarts_with(subject, prefix)) continue;
    const auto rest = without_decoration(subject.substr(prefix.size()));
    if (has_colon_first(rest)) return rest.substr(rest.starts_with(':') ? 1 : std::string_view("：").size());
  }
  return std::nullopt;
}

/// Whether the other mail begins here as in Outlook: `From: Ann`, with `Subject: …` in the lines below.
bool begins_head(const Lines& lines, std::size_t at) {
  static constexpr std::array<std::string_view, 18> from = {
      "From", "Von",        "De",     "Da",     "Van",    "Från",   "Fra",    "Od",        "Lähettäjä",
      "От",   "Expéditeur", "Feladó", "Kimden", "发件人", "寄件者", "差出人", "보낸 사람", "Від"};
  static constexpr std::array<std::string_view, 18> subject = {
      "Subject", "Betreff", "Objet", "Asunto", "Assunto", "Oggetto", "Onderwerp", "Ämne", "Emne",
      "Temat",   "Předmět", "Aihe",  "Tárgy",  "Konu",    "Тема",    "主题",      "主旨", "件名"};
  if (!begins_with_one(lines[at], from)) return false;
  const auto end = std::min(lines.size(), at + 6);
  return std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(at), lines.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](std::string_view line) { return begins_with_one(line, subject); });
}

bool begins_other_mail(const Lines& lines, std::size_t at) {
  return is_rule_of_other_mail(lines[at]) || begins_head(lines, at);
}

bool is_fence(std::string_view line) {
  const auto begin = line.find_first_not_of(' ');
  return begin != line.npos && line.substr(begin).starts_with("```");
}

/// Where the block of code that begins here ends; the same line if none begins, or if it has no end.
std::size_t end_of_code(const Lines& lines, std::size_t at) {
  if (!is_fence(lines[at])) return at;
  const auto next = lines.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  const auto end = std::find_if(next, lines.end(), is_fence);
  return end == lines.end() ? at : static_cast<std::size_t>(end - lines.begin());
}

std::size_t end_of_own_lines(const Lines& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    i = end_of_code(lines, i);
    if (lines[i] == "-- " || lines[i] == "--" || begins_other_mail(lines, i)) return i;
  }
  return lines.size();
}

/// The line above another mail is left out too: programs draw one.
void drop_blank_end(Lines& lines) {
  while (!lines.empty() && has_only(lines.back(), " \t_-*")) lines.pop_back();
}

/// `On Monday 3 Nov, Ann wrote:`, over one or a few lines. It names a date or an address: otherwise the person may have
/// written it.
void drop_introduction(Lines& lines) {
  drop_blank_end(lines);
  if (lines.empty()) return;
  const auto last = boost::trim_right_copy(std::string(lines.back()));
  if (!last.ends_with(':') && !last.ends_with("：")) return;
  auto begin = lines.end();
  bool names_origin = false;
  while (begin != lines.begin() && lines.end() - begin < max_introduction && !is_blank_line(*(begin - 1))) {
    --begin;
    names_origin |= begin->find_first_of("0123456789@") != begin->npos;
  }
  if (names_origin) lines.erase(begin, lines.end());
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

std::string text_with_forwarded(std::string_view text) {
  const auto lines = lines_of(text);
  std::size_t begin = 0;
  while (begin < lines.size() && !begins_other_mail(lines, begin) && !is_quoted(lines[begin])) ++begin;
  const auto other = lines.begin() + static_cast<std::ptrdiff_t>(begin);
  Lines own(lines.begin(), other);
  own.resize(end_of_own_lines(own));
  drop_blank_end(own);
  auto all = joined(own);
  // Apple Mail quotes what it forwards.
  const std::string_view mark = other != lines.end() && is_quoted(*other) ? "" : "> ";
  std::string forwarded;
  for (auto line = other; line != lines.end(); ++line) forwarded += fmt::format("{}{}\n", mark, *line);
  if (!all.empty() && !forwarded.empty()) all += "\n\n";
  return all + boost::trim_right_copy(forwarded);
}

bool is_forward(std::string_view subject) { return without_prefix(subject, forward_prefixes).has_value(); }

std::string_view bare_subject(std::string_view subject) {
  for (std::optional rest(subject); rest;) {
    subject = *rest;
    rest = without_prefix(subject, reply_prefixes);
    if (!rest) rest = without_prefix(subject, forward_prefixes);
  }
  return without_decoration(subject);
}

}  // namespace agw
