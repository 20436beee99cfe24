#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "features/knowledge/files.hpp"
#include "features/knowledge/page_text.hpp"

namespace agw {

/// All that the index keeps of a page's file.
struct IndexedPage {
  std::string path;  ///< relative to the data directory
  FileStamp stamp;   ///< of the version that was read
  std::string scope;
  std::string slug;  ///< after the file's name; the index changes one that is taken
  std::string title;
  std::string summary;
  std::string category;
  std::vector<std::string> tags;
  std::vector<std::string> sources;
  std::vector<NamedEntity> entities;
  std::vector<std::string> entity_ids;  ///< for those of the entities that are new
  std::vector<std::string> links;       ///< slugs, whether or not they lead to a page
  std::int64_t words = 0;
  Timestamp updated_at;
  std::string headings;  ///< plain text
  std::string body;      ///< plain text, as far as it is searched
};

/// Reads the page at `path`; nothing where there is none that can be read, which the log says unless it has just gone.
/// Blocks: not for the loop.
std::optional<IndexedPage> read_page(const KnowledgeTree& tree, const std::string& path);

}  // namespace agw
