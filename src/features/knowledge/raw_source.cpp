#include "features/knowledge/raw_source.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include <boost/algorithm/string.hpp>

#include "base/containers.hpp"
#include "base/json/json.hpp"
#include "base/text/ascii.hpp"
#include "features/knowledge/files.hpp"
#include "features/knowledge/markdown.hpp"
#include "features/knowledge/search_terms.hpp"

namespace agw {

namespace {

constexpr std::size_t max_title_line_length = 80;
constexpr std::size_t min_tag_length = 4;
constexpr std::size_t max_tag_length = 30;
constexpr std::size_t max_tags = 5;
/// Only the beginning of a long text is searched for tags.
constexpr std::size_t max_bytes_counted = 64 * 1024;

std::string ending_of(std::string_view path) {
  const auto stem = stem_of_path(path);
  const auto name = path.substr(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
  return boost::to_lower_copy(std::string(name.substr(std::min(name.size(), stem.size() + 1))), std::locale::classic());
}

bool is_markdown_ending(std::string_view ending) { return ending == "md" || ending == "markdown"; }

bool is_text_ending(std::string_view ending) {
  static constexpr std::array<std::string_view, 10> endings{"",     "txt",      "text", "rst",    "org",
                                                            "adoc", "asciidoc", "log",  "readme", "me"};
  return contains(endings, ending);
}

/// The first line, if it is followed by an empty line and is not a sentence.
std::string title_line(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  const auto end = std::min(text.find('\n'), text.size());
  auto line = boost::trim_copy(std::string(text.substr(0, end)));
  const auto next = text.substr(std::min(end + 1, text.size()));
  const bool is_alone = next.empty() || next.front() == '\n' || next.front() == '\r';
  if (!is_alone || line.size() > max_title_line_length || line.ends_with('.') || line.ends_with(':')) return {};
  return line;
}

/// The text as a code block, with a fence that does not occur in it.
std::string in_fence(std::string_view text, std::string_view language) {
  std::size_t longest = 2;
  for (std::size_t place = 0, run = 0; place < text.size(); ++place) {
    run = text[place] == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool is_word = std::ranges::all_of(language, [](char c) { return c >= 'a' && c <= 'z'; });
  auto block = fence + (is_word ? std::string(language) : "") + '\n' + std::string(text);
  if (!block.ends_with('\n')) block += '\n';
  return block + fence + '\n';
}

/// Calls `visit` with each run of ASCII letters and digits.
void visit_words(std::string_view text, const std::function<void(std::string_view)>& visit) {
  for (auto begin = std::ranges::find_if(text, is_alphanumeric); begin != text.end();) {
    const auto end = std::find_if_not(begin, text.end(), is_alphanumeric);
    visit({begin, end});
    begin = std::find_if(end, text.end(), is_alphanumeric);
  }
}

bool is_tag(std::string_view word) {
  const bool has_digit_first = word.front() >= '0' && word.front() <= '9';
  return word.size() >= min_tag_length && word.size() <= max_tag_length && !has_digit_first && !is_stop_word(word);
}

std::string words_to_count(std::string_view text) { return ascii_lower_case(text.substr(0, max_bytes_counted)); }

/// The words in headings that the text repeats, most frequent first.
std::vector<std::string> distinctive_words(const MarkdownOutline& outline, const std::string& title) {
  struct Count {
    int in_headings = 0;
    int in_text = 0;
  };
  const auto headings = words_to_count(title + "\n" + boost::join(outline.headings, "\n"));
  std::map<std::string_view, Count> counts;
  visit_words(headings, [&](std::string_view word) {
    if (is_tag(word)) ++counts[word].in_headings;
  });
  // A text has many other words, whose counts nobody needs.
  visit_words(words_to_count(outline.plain_text), [&](std::string_view word) {
    if (const auto place = counts.find(word); place != counts.end()) ++place->second.in_text;
  });
  std::vector<std::pair<int, std::string_view>> found;
  for (const auto& [word, count] : counts) {
    if (count.in_text > count.in_headings) found.emplace_back(-count.in_text, word);
  }
  std::ranges::sort(found);
  std::vector<std::string> tags;
  for (const auto& [count, word] : found) {
    if (tags.size() < max_tags) tags.emplace_back(word);
  }
  return tags;
}

/// The first directory below `raw`.
std::string category_of(std::string_view path) {
  constexpr std::string_view root = "raw/";
  if (path.starts_with(root)) path.remove_prefix(root.size());
  const auto slash = path.find('/');
  return slash == path.npos ? std::string(default_category) : std::string(path.substr(0, slash));
}

void complete(PageHead& head, std::string_view path, const std::string& body, bool may_have_title_line) {
  const auto outline = outline_of(body);
  if (head.title.empty()) head.title = outline.title;
  if (head.title.empty() && may_have_title_line) head.title = title_line(body);
  if (head.title.empty() && !outline.headings.empty()) head.title = outline.headings.front();
  if (head.title.empty()) head.title = title_of_name(stem_of_path(path));
  head.title = single_line(head.title, max_title_length);
  if (head.summary.empty() && outline.first_paragraph != head.title) head.summary = summary_of(outline.first_paragraph);
  if (head.category.empty()) head.category = category_of(path);
  if (head.tags.empty()) head.tags = distinctive_words(outline, head.title);
  if (!contains(head.sources, path)) head.sources.insert(head.sources.begin(), std::string(path));
}

}  // namespace

SourcePage page_of_source(std::string_view path, std::string_view content, std::string_view summary) {
  if (content.find('\0') != content.npos) return {.problem = "not text"};
  if (!is_utf8(content)) return {.problem = "not UTF-8"};
  const auto ending = ending_of(path);
  SourcePage made;
  if (is_markdown_ending(ending)) {
    made.page = read_page_text(content);
  } else if (is_text_ending(ending)) {
    made.page.body = content;
  } else {
    made.page.body = in_fence(content, ending);
  }
  made.has_own_summary = !made.page.head.summary.empty();
  if (!made.has_own_summary) made.page.head.summary = summary;
  complete(made.page.head, path, made.page.body, is_text_ending(ending));
  return made;
}

}  // namespace agw
