#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// The structure of a Markdown text, as plain text.
struct MarkdownOutline {
  std::string title;                    ///< the first heading of level 1; empty if there is none
  std::vector<std::string> headings;    ///< of all levels
  std::string first_paragraph;          ///< the first that contains words
  std::string plain_text;               ///< without markup, one line per block; links as their visible text
  std::vector<std::string> wiki_links;  ///< the targets of `[[…]]`, without label and section, each once
  std::vector<std::string> file_links;  ///< the targets of links to other Markdown files, as written, each once
};

/// Reads GitHub Flavored Markdown. Code contains no links.
MarkdownOutline outline_of(std::string_view markdown);

/// The target of a wiki link: the address for `href`, and the text shown for a link without a label. No value if the
/// page does not exist; then the link becomes plain text.
struct LinkPlace {
  std::string address;
  std::string text;
};
/// Called for each wiki link. `target` is without label and section.
using FindLinkPlace = std::function<std::optional<LinkPlace>(std::string_view target)>;

/// The text as HTML that is safe to show, no matter who wrote it: raw HTML is removed, links lead only to the web, to
/// mail or to the address returned by `find`, and images become links.
std::string safe_html(std::string_view markdown, const FindLinkPlace& find);

/// Whether something that looks like a tag is meant as text, such as `<upstream>` in `git rebase <upstream>`: it has no
/// attributes and is not an element of HTML, SVG or MathML.
bool is_placeholder(std::string_view tag);

}  // namespace agw
