#include "features/projects/files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/text/is_within.hpp"
#include "base/text/utf8.hpp"
#include "features/projects/service.hpp"
#include "io/files/directory.hpp"
#include "io/sandbox/masked_paths.hpp"
#include "io/sandbox/private_files.hpp"
#include "tools/place.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t max_shown_entries = 50'000;
/// The entries that are read and sorted before the list is shortened, so that the result does not depend on the order
/// on disk.
constexpr std::size_t max_read_entries = 1'000'000;
constexpr std::int64_t default_length = 262'144;
constexpr std::int64_t max_length = 5 << 20;
/// The maximum number of bytes of a character after the first.
constexpr std::size_t max_continuation = 3;
static_assert(default_length <= max_length);
static_assert(std::cmp_less_equal(max_shown_entries, max_read_entries));

[[noreturn]] void refuse_path(FileError error, const NotFound& missing) {
  if (error == FileError::outside) throw path_traversal();
  if (error == FileError::permission) throw permission_denied();
  throw missing;
}

/// Whether the opened file is a hard link to a private one.
bool is_linked_to_private(const Descriptor& opened, const FileRoots& roots) {
  struct stat status{};
  if (::fstat(opened.get(), &status) != 0) throw_errno("cannot access a file of a project");
  if (status.st_nlink < 2) return false;
  return hard_linked_private_files(roots.home, roots.data_directory).contains({status.st_dev, status.st_ino});
}

/// Throws unless `real`, the path of the file that was actually opened, may be shown.
void require_shown(const fs::path& real, const FileRoots& roots, const NotFound& missing) {
  AGW_ASSERT(roots.project);
  if (!is_within(real, *roots.project)) throw path_traversal();
  const auto place = place_of(real, roots);
  if (place != FilePlace::project && place != FilePlace::guarded) throw missing;
}

Directory open_project(const FileRoots& roots) {
  auto opened = Directory::open(*roots.project);
  if (!opened) refuse_path(opened.error(), path_not_found());
  return *std::move(opened);
}

std::string below_project(const fs::path& real, const FileRoots& roots) {
  return real == *roots.project ? std::string() : to_utf8(real.lexically_relative(*roots.project).string());
}

ProjectEntryType type_of(const DirectoryEntry& entry) {
  if (!is_utf8(entry.name)) return ProjectEntryType::other;
  switch (entry.type) {
    case FileType::directory:
      return ProjectEntryType::directory;
    case FileType::regular:
      return ProjectEntryType::file;
    case FileType::symlink:
      return ProjectEntryType::symlink;
    case FileType::other:
      break;
  }
  return ProjectEntryType::other;
}

/// Returns the visible entries of a directory.
FileResult<std::vector<ProjectEntry>> shown_entries(const Directory& directory, const fs::path& real,
                                                    const FileRoots& roots) {
  const auto parent = real.filename().string();
  const auto data = real == roots.data_directory.parent_path() ? roots.data_directory.filename().string() : "";
  std::vector<ProjectEntry> entries;
  const auto visited = directory.visit(".", [&](const DirectoryEntry& entry) {
    const bool is_shown = entry.name != ".git" && entry.name != data && !is_private_name(parent, entry.name);
    if (is_shown) entries.push_back({to_utf8(entry.name), type_of(entry)});
    return entries.size() < max_read_entries;
  });
  if (!visited) return visited.error();
  return entries;
}

std::size_t limit_of(const ProjectDirectoryQuery& query) {
  const auto limit = query.limit.value_or(max_shown_entries);
  if (limit < 1) throw BadRequest(std::string(ProjectDirectoryQuery::wrong_limit));
  return static_cast<std::size_t>(std::min(limit, max_shown_entries));
}

ProjectDirectory list_project_directory(const FileRoots& roots, const std::string& path, std::size_t limit) {
  const auto opened = open_project(roots).directory(path.empty() ? "." : path);
  if (!opened && opened.error() == FileError::not_directory) throw BadRequest("path is not a directory");
  if (!opened) refuse_path(opened.error(), path_not_found());
  const auto real = opened->real_path();
  require_shown(real, roots, path_not_found());
  auto entries = shown_entries(*opened, real, roots);
  if (!entries) refuse_path(entries.error(), path_not_found());
  const auto order = [](const ProjectEntry& entry) {
    return std::tuple(entry.type != ProjectEntryType::directory, std::string_view(entry.name));
  };
  const bool is_complete = entries->size() <= limit;
  if (!is_complete) {
    std::ranges::nth_element(*entries, entries->begin() + static_cast<std::ptrdiff_t>(limit), {}, order);
    entries->resize(limit);
  }
  AGW_ASSERT(entries->size() <= limit);
  std::ranges::sort(*entries, {}, order);
  return {.path = below_project(real, roots), .entries = *std::move(entries), .complete = is_complete};
}

Descriptor open_shown_file(const FileRoots& roots, const std::string& path) {
  auto opened = open_project(roots).file(path);
  if (!opened) refuse_path(opened.error(), file_not_found());
  require_shown(real_path(*opened), roots, file_not_found());
  if (is_linked_to_private(*opened, roots)) throw file_not_found();
  return *std::move(opened);
}

struct Range {
  std::int64_t offset = 0;
  std::size_t length = 0;
};

Range range_of(const ProjectFileQuery& query) {
  if (query.offset < 0) throw BadRequest("offset must not be negative");
  const auto length = query.length.value_or(default_length);
  if (length < 1) throw BadRequest("length must be a positive integer");
  return {query.offset, static_cast<std::size_t>(std::min(length, max_length))};
}

/// Returns the position of the first byte from `position` on that begins a character, at most three bytes later.
std::size_t next_character(std::string_view bytes, std::size_t position) {
  AGW_ASSERT(position <= bytes.size());
  const auto last = std::min(bytes.size(), position + max_continuation);
  while (position < last && continues_character(bytes[position])) ++position;
  return position;
}

ProjectFile read_text_range(const FileRoots& roots, const std::string& path, Range range) {
  const auto opened = open_shown_file(roots, path);
  const auto stamp = stamp_of(opened);
  range.offset = std::min(range.offset, static_cast<std::int64_t>(stamp.size));
  const auto bytes = read_range(opened, static_cast<std::uint64_t>(range.offset), range.length + max_continuation);
  const auto begin = range.offset == 0 ? 0 : next_character(bytes, 0);
  const auto end = std::max(begin, next_character(bytes, std::min(range.length, bytes.size())));
  AGW_ASSERT(end <= bytes.size());
  const auto text = std::string_view(bytes).substr(begin, end - begin);
  ProjectFile file{.path = below_project(real_path(opened), roots),
                   .size = static_cast<std::int64_t>(stamp.size),
                   .modified_at = modified_at(stamp),
                   .offset = range.offset + static_cast<std::int64_t>(begin),
                   .content = {},
                   .next = {}};
  if (is_text(text)) file.content = std::string(text);
  const auto next = range.offset + static_cast<std::int64_t>(end);
  if (!text.empty() && next < file.size) file.next = next;
  return file;
}

FileRoots roots_of(const Project& project, const Filesystem& filesystem, const fs::path& data_directory) {
  return {.home = filesystem.home(), .data_directory = data_directory, .agent = {}, .project = project.path};
}

}  // namespace

void ProjectFiles::require(const std::string& id) const { projects_.require(id); }

Task<std::string> ProjectFiles::list_json(std::string id, ProjectDirectoryQuery query) const {
  const auto project = projects_.require(id);
  co_return co_await filesystem_.blocking().run(
      [roots = roots_of(*project, filesystem_, data_directory_), path = query.path.value_or(""),
       limit = limit_of(query)] { return to_json(list_project_directory(roots, path, limit)); });
}

Task<std::string> ProjectFiles::read_json(std::string id, ProjectFileQuery query) const {
  const auto project = projects_.require(id);
  co_return co_await filesystem_.blocking().run(
      [roots = roots_of(*project, filesystem_, data_directory_), path = query.path, range = range_of(query)] {
        return to_json(read_text_range(roots, path, range));
      });
}

Task<std::string> ProjectFiles::read_bytes(std::string id, ProjectFileQuery query) const {
  const auto project = projects_.require(id);
  co_return co_await filesystem_.blocking().run([roots = roots_of(*project, filesystem_, data_directory_),
                                                 path = query.path, range = range_of(query)] {
    const auto opened = open_shown_file(roots, path);
    return read_range(opened, std::min(static_cast<std::uint64_t>(range.offset), stamp_of(opened).size), range.length);
  });
}

}  // namespace agw
