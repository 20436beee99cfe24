#include <algorithm>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "features/knowledge/files.hpp"
#include "features/knowledge/raw_source.hpp"
#include "features/knowledge/service.hpp"
#include "io/files/directory.hpp"

namespace agw {

namespace {

/// Whether the source can be stored at that path: it is free, or its file has the same origin.
bool is_free(const Directory& data_directory, const std::string& path, const std::string& origin) {
  const auto file = data_directory.read(path, max_knowledge_file_size);
  if (!file) return file.error() == FileError::not_found;
  const auto sources = read_page_text(*file).head.sources;
  return std::ranges::find(sources, origin) != sources.end();
}

std::string place_for(const Directory& data_directory, const std::string& directory, const NewSource& source) {
  const auto name = slug_of(stem_of_path(source.name));
  auto path = fmt::format("{}/{}.md", directory, name);
  if (is_free(data_directory, path, source.origin)) return path;
  return fmt::format("{}/{}-{}.md", directory, name, content_id(source.origin).substr(0, 8));
}

}  // namespace

std::string store_source(const Directory& data_directory, const NewSource& source) {
  AGW_DEBUG_ASSERT(may_block());

  const auto directory = directory_of_scope("agent:" + source.agent_name) + "/raw";
  auto made = page_of_source(source.name, source.text).page;
  if (made.head.title.empty() || !source.title.empty()) made.head.title = single_line(source.title, max_title_length);
  made.head.sources = {source.origin};
  made.head.category = "";
  data_directory.make_directories(directory).value();
  const auto path = place_for(data_directory, directory, source);
  data_directory.write(path, write_page_text(made)).value();
  return path;
}

}  // namespace agw
