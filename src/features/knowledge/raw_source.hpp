#pragma once

#include <string>
#include <string_view>

#include "features/knowledge/page_text.hpp"

namespace agw {

/// A raw file as a page. What its own head does not say is found by plain rules: the title is the first heading, the
/// summary the first sentences, the category the directory, the tags the words that headings and text share.
struct SourcePage {
  PageText page;
  bool says_summary = false;  ///< its own head has one
  std::string problem;        ///< why it cannot become a page; empty where it can
};

/// `summary` is the page's where its own head says none; empty: found by the rules. `path` is relative to the directory
/// of the scope: `raw/guides/setup.md`. Markdown stays as it is, other text too; what has the ending of a program or of
/// data becomes a block of code.
SourcePage page_of_source(std::string_view path, std::string_view content, std::string_view summary = {});

}  // namespace agw
