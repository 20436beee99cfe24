#include "io/files/update_file.hpp"

#include <system_error>
#include <utility>

#include "base/async/assert.hpp"
#include "io/files/entry_state.hpp"
#include "io/files/file_error.hpp"

namespace agw {

namespace {

constexpr int max_attempts = 10;

struct Version {
  std::optional<std::string> content;  ///< nullopt: there is no file
  FileStamp stamp{};                   ///< of the entry: a symlink is replaced, as by Directory::write
};

FileResult<Version> read_version(const Directory& directory, const std::string& name, std::size_t limit,
                                 const std::filesystem::path& path) {
  // Taken first: if the file changes before or during the read, it no longer has this stamp.
  Version version{.stamp = stat_entry(directory.descriptor(), name, path).stamp};
  auto content = directory.read(name, limit);
  if (!content && content.error() != FileError::not_found) return content.error();
  if (content) version.content = *std::move(content);
  return version;
}

/// What the file becomes; nullopt changes nothing.
using Decision = std::function<std::optional<EntryState>(const std::string* present)>;

struct Place {
  Directory parent;
  std::string name;
};

FileResult<Place> place_of(const Directory& directory, std::string_view path) {
  const auto slash = path.rfind('/');
  auto parent = directory.directory(slash == path.npos ? "." : path.substr(0, slash));
  if (!parent) return parent.error();
  return Place{.parent = *std::move(parent), .name = std::string(path.substr(slash + 1))};
}

/// Returns whether the file was still that version.
FileResult<bool> replace(const Place& place, const FileStamp& present, const EntryState& wanted,
                         const std::filesystem::path& path, Durability durability) {
  const int directory = place.parent.descriptor();
  try {
    if (wanted.kind == EntryKind::absent) return put_entry(directory, place.name, wanted, present, path);
    NewEntry entry(directory, wanted, path, temporary_name(), durability);
    return put_entry(directory, place.name, entry, present, path, durability);
  } catch (const std::system_error& error) {
    if (const auto expected = file_error_of(error.code().value())) return *expected;
    throw;
  }
}

FileResult<void> change_file(const Directory& directory, std::string_view path, std::size_t limit,
                             const Decision& decide, Durability durability) {
  AGW_DEBUG_ASSERT(may_block());

  const auto place = place_of(directory, path);
  if (!place) return place.error();
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const auto present = read_version(place->parent, place->name, limit, path);
    if (!present) return present.error();
    const auto wanted = decide(present->content ? &*present->content : nullptr);
    if (!wanted) return {};
    const auto is_replaced = replace(*place, present->stamp, *wanted, path, durability);
    if (!is_replaced) return is_replaced.error();
    if (*is_replaced) return {};
  }
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                          "cannot write " + std::string(path) + ", which other programs change all the time");
}

EntryState new_file(std::string content, mode_t mode) {
  return {.kind = EntryKind::file, .mode = mode, .content = std::move(content)};
}

}  // namespace

FileResult<void> update_file(const Directory& directory, std::string_view path, std::size_t limit,
                             const FileEdit& change, mode_t mode, Durability durability) {
  AGW_ASSERT(change);
  const auto decide = [&](const std::string* present) -> std::optional<EntryState> {
    auto content = change(present);
    if (!content) return std::nullopt;
    return new_file(*std::move(content), mode);
  };
  return change_file(directory, path, limit, decide, durability);
}

FileResult<void> remove_file_if(const Directory& directory, std::string_view path, std::size_t limit,
                                const std::function<bool(const std::string& present)>& is_removable) {
  AGW_ASSERT(is_removable);
  const auto decide = [&](const std::string* present) {
    return present && is_removable(*present) ? std::optional<EntryState>(EntryState{}) : std::nullopt;
  };
  return change_file(directory, path, limit, decide, Durability::now);
}

FileResult<bool> replace_unchanged_file(const Directory& directory, std::string_view path, std::string content,
                                        mode_t mode) {
  AGW_DEBUG_ASSERT(may_block());

  const auto place = place_of(directory, path);
  if (!place) return place.error();
  const auto present = stat_entry(place->parent.descriptor(), place->name, path);
  if (present.kind == EntryKind::directory) return FileError::is_directory;
  return replace(*place, present.stamp, new_file(std::move(content), mode), path, Durability::now);
}

}  // namespace agw
