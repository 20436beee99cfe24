#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "features/knowledge/files.hpp"
#include "features/knowledge/page_text.hpp"

namespace agw {

/// Everything that the index stores about a page's file.
struct IndexedPage {
  std::string path;  ///< relative to the data directory
  FileStamp stamp;   ///< of the version that was read
  std::string scope;
  std::string slug;  ///< from the file's name; the index changes it if it is taken
  std::string title;
  std::string summary;
  std::string category;
  std::vector<std::string> tags;
  std::vector<std::string> sources;
  std::vector<NamedEntity> entities;
  std::vector<std::string> entity_ids;  ///< ids for new entities, one for each of `entities`
  std::vector<std::string> links;       ///< slugs, including those of missing pages
  std::int64_t words = 0;
  Timestamp updated_at;
  std::string headings;  ///< plain text
  std::string body;      ///< plain text; truncated to the part that is searched
};

/// Reads the page at `path`. No value if the file is missing or cannot be read; the latter is logged. Blocks.
std::optional<IndexedPage> read_page(const KnowledgeTree& tree, const std::string& path);

}  // namespace agw
