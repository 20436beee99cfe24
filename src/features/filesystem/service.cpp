#include "features/filesystem/service.hpp"

#include <algorithm>
#include <system_error>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"
#include "base/text/utf8.hpp"
#include "features/filesystem/home.hpp"
#include "features/filesystem/name_search.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr auto min_characters = 2;

/// Calls `read` with the home directory, and reports unexpected failures as `failure`, the error that clients expect.
template <class Reading>
auto reading(const fs::path& home, const char* failure, Reading read) {
  try {
    const Home open(home);
    return read(open);
  } catch (const std::system_error& error) {
    log::error("{}: {}", failure, error.what());
    throw ApiError(500, failure);
  }
}

void require_read(const FileResult<void>& read, const fs::path& path, const char* failure) {
  if (read) return;
  if (read.error() == FileError::permission) throw permission_denied();
  if (read.error() == FileError::not_found) throw path_not_found();
  log::error("{} {}: {}", failure, path.string(), to_string(read.error()));
  throw ApiError(500, failure);
}

bool is_directory(const Home& home, const fs::path& path, FileType type) {
  if (type == FileType::symlink) return home.link_is_directory(path).value_or(false);
  return type == FileType::directory;
}

DirectoryListing list_directories(const Home& home, const ListQuery& query) {
  const auto directory = home.require_directory(query.path);
  DirectoryListing listing{.path = to_utf8(directory.string()), .entries = {}};
  const auto visited = home.directory().visit(home.below(directory), [&](const DirectoryEntry& entry) {
    const bool hidden = entry.name.starts_with('.') || !is_utf8(entry.name);
    const auto path = directory / entry.name;
    if (!hidden && is_directory(home, path, entry.type))
      listing.entries.push_back({entry.name, to_utf8(path.string()), true});
    return true;
  });
  require_read(visited, directory, directory_unreadable);
  std::ranges::sort(listing.entries, {}, &FileEntry::name);
  return listing;
}

NamesFound search_names(const Home& home, const NameQuery& query) {
  const auto root = home.require_directory(query.path);
  auto found = NameSearch(home, query.q).run(root);
  if (!found) require_read(found.error(), root, "search failed");
  return {query.q, to_utf8(root.string()), std::move(*found)};
}

}  // namespace

Task<std::string> Filesystem::list_json(ListQuery query) {
  co_return co_await blocking_.run([home = home_, query] {
    return to_json(
        reading(home, directory_unreadable, [&](const Home& open) { return list_directories(open, query); }));
  });
}

Task<NamesFound> Filesystem::search(NameQuery query) {
  if (count_characters(query.q) < min_characters) throw BadRequest(std::string(query_too_short));
  co_return co_await blocking_.run([home = home_, query] {
    return reading(home, "search failed", [&](const Home& open) { return search_names(open, query); });
  });
}

Task<std::vector<FoundProgram>> Filesystem::programs() {
  co_return co_await blocking_.run([home = home_] {
    std::vector<FoundProgram> found;
    for (const auto& program : other_programs) {
      const auto path = home / program.directory;
      std::error_code unreadable;
      if (fs::is_directory(path, unreadable))
        found.push_back({std::string(program.name), std::string(program.title), to_utf8(path.string())});
    }
    return found;
  });
}

Task<fs::path> Filesystem::require_directory(std::string path, AllowedPlace allowed) {
  co_return co_await blocking_.run([home = home_, path = std::move(path), allowed = std::move(allowed)] {
    return reading(home, directory_unreadable, [&](const Home& open) { return open.require_directory(path, allowed); });
  });
}

}  // namespace agw
