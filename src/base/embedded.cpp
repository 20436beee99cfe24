#include "base/embedded.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/async/assert.hpp"

namespace agw {

std::string_view embedded_file(std::string_view path) {
  const auto files = embedded_files();
  const auto file = std::ranges::find(files, path, &EmbeddedFile::path);
  AGW_CHECK(file != files.end(), std::string(path) + " was not compiled in");
  return file->content;
}

json::value embedded_json(std::string_view path) {
  auto value = parse_json(embedded_file(path), {.allow_comments = true});
  AGW_CHECK(value, std::string(path) + " is not valid JSON");
  return *std::move(value);
}

}  // namespace agw
