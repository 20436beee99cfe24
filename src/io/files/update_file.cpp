#include "io/files/update_file.hpp"

#include <system_error>

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

/// Returns whether the file was still that version.
bool replace(const Directory& directory, const std::string& name, const Version& present, const EntryState& wanted,
             const std::filesystem::path& path, Durability durability) {
  NewEntry entry(directory.descriptor(), wanted, path, temporary_name(), durability);
  return put_entry(directory.descriptor(), name, entry, present.stamp, path, durability);
}

}  // namespace

FileResult<void> update_file(const Directory& directory, std::string_view path, std::size_t limit,
                             const FileEdit& change, mode_t mode, Durability durability) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(change);

  const auto slash = path.rfind('/');
  const auto parent = directory.directory(slash == path.npos ? "." : path.substr(0, slash));
  if (!parent) return parent.error();
  const std::string name(path.substr(slash + 1));
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const auto present = read_version(*parent, name, limit, path);
    if (!present) return present.error();
    auto content = change(present->content ? &*present->content : nullptr);
    if (!content) return {};
    const EntryState wanted{.kind = EntryKind::file, .mode = mode, .content = *std::move(content)};
    try {
      if (replace(*parent, name, *present, wanted, path, durability)) return {};
    } catch (const std::system_error& error) {
      if (const auto expected = file_error_of(error.code().value())) return *expected;
      throw;
    }
  }
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                          "cannot write " + std::string(path) + ", which other programs change all the time");
}

}  // namespace agw
