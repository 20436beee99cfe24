#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// What a Markdown text says of itself, as plain text.
struct MarkdownOutline {
  std::string title;                    ///< its first heading of the first level; empty without one
  std::vector<std::string> headings;    ///< all of them
  std::string first_paragraph;          ///< the first with any words in it
  std::string plain_text;               ///< without markup, blocks on lines of their own, of links what they show
  std::vector<std::string> wiki_links;  ///< what stands in `[[…]]`, without label and section, once each
  std::vector<std::string> file_links;  ///< where links to other Markdown files lead, as written, once each
};

/// Reads GitHub's dialect. What stands in code is no link.
MarkdownOutline outline_of(std::string_view markdown);

/// Where a wiki link leads: the address for `href` and the text to show where the link has none of its own. Nothing for
/// a page that is not there, whose link becomes plain text.
struct LinkPlace {
  std::string address;
  std::string text;
};
/// Asked for each wiki link. `target` is without label and section.
using FindLinkPlace = std::function<std::optional<LinkPlace>(std::string_view target)>;

/// The text as HTML that is safe to show, whoever wrote it: markup of its own is left out, links lead only to the web,
/// to mail, or where `find` says, and images become links.
std::string safe_html(std::string_view markdown, const FindLinkPlace& find);

}  // namespace agw
