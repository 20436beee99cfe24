#pragma once

#include <string>
#include <string_view>

#include "features/knowledge/page_text.hpp"

namespace agw {

struct NewSource;
class Directory;

/// A raw file as a page. Members that the file's head omits are derived: the title is the first heading, the summary
/// the first sentences, the category the directory, the tags the words that headings and text share.
struct SourcePage {
  PageText page;
  bool has_own_summary = false;  ///< the file's head has a summary
  std::string problem;           ///< why it cannot become a page; empty if it can
};

/// `summary` is used if the file's head has none; if empty, the summary is derived. `path` is relative to the directory
/// of the scope: `raw/guides/setup.md`. Markdown and other text are kept unchanged; files of source code or data, by
/// their extension, become a code block.
SourcePage page_of_source(std::string_view path, std::string_view content, std::string_view summary = {});

/// Writes the source as a Markdown file with its origin in the head, among the agent's raw sources. Never overwrites a
/// file of another origin. Returns the path, relative to the data directory. Throws std::system_error. Blocks.
std::string store_source(const Directory& data_directory, const NewSource& source);

}  // namespace agw
