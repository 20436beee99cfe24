#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/digest.hpp"
#include "features/knowledge/files.hpp"
#include "features/knowledge/raw_source.hpp"
#include "features/knowledge/service.hpp"
#include "io/files/directory.hpp"
#include "io/files/update_file.hpp"

namespace agw {

namespace {

bool is_of_origin(const std::string& file, const std::string& origin) {
  const auto sources = read_page_text(file).head.sources;
  return contains(sources, origin);
}

/// Writes the text if the path is free or its file has the same origin. Returns whether it did.
bool store_at(const Directory& data_directory, const std::string& path, const std::string& origin,
              const std::string& text) {
  bool is_ours = false;
  const auto change = [&](const std::string* present) -> std::optional<std::string> {
    is_ours = !present || is_of_origin(*present, origin);
    return is_ours ? std::optional(text) : std::nullopt;
  };
  const auto written = update_file(data_directory, path, max_knowledge_file_size, change);
  return written && is_ours;
}

}  // namespace

std::string store_source(const Directory& data_directory, const NewSource& source) {
  AGW_DEBUG_ASSERT(may_block());

  const auto directory = directory_of_scope("agent:" + source.agent_name) + "/raw";
  auto kept = source.text;
  // The whole text would count as binary.
  std::ranges::replace(kept, '\0', ' ');
  auto made = page_of_source(source.name, kept).page;
  if (made.head.title.empty() || !source.title.empty()) made.head.title = single_line(source.title, max_title_length);
  made.head.sources = {source.origin};
  made.head.category = "";
  data_directory.make_directories(directory).value();
  const auto text = write_page_text(made);
  const auto name = slug_of(stem_of_path(source.name));
  auto path = fmt::format("{}/{}.md", directory, name);
  if (store_at(data_directory, path, source.origin, text)) return path;
  path = fmt::format("{}/{}-{}.md", directory, name, content_id(source.origin).substr(0, 8));
  data_directory.write(path, text).value();
  return path;
}

}  // namespace agw
