#include "features/checkpoints/entry_access.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/async/assert.hpp"
#include "features/checkpoints/blob_store.hpp"

namespace agw {

namespace {

Directory root() { return Directory::open("/", Symlinks::refuse).value(); }

}  // namespace

EntryAccess EntryAccess::open(const std::string& path) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(path.starts_with('/'));
  EntryAccess access;
  const std::filesystem::path whole(path);
  access.path_ = path;
  access.name_ = whole.filename().string();
  access.parent_ = whole.parent_path().relative_path().string();
  auto opened = root().directory(access.parent_.empty() ? "." : access.parent_);
  if (opened)
    access.directory_ = *std::move(opened);
  else if (opened.error() == FileError::symlink)
    access.problem_ = "its directory is now reached through a symlink, which is not followed";
  else if (opened.error() != FileError::not_found)
    access.problem_ = "its directory: " + std::string(to_string(opened.error()));
  return access;
}

EntryState EntryAccess::read(std::size_t limit) const { return read_named(name_, limit); }

EntryState EntryAccess::read_named(const std::string& name, std::size_t limit) const {
  AGW_ASSERT(name.find('/') == name.npos);
  return directory_ ? read_entry(directory_->descriptor(), name, limit, path_) : EntryState{};
}

StoredState EntryAccess::stored(const EntryState& state) {
  StoredState stored{
      .kind = state.kind, .mode = state.mode, .modified_ns = state.modified_ns, .accessed_ns = state.accessed_ns};
  if (state.has_content) stored.hash = blob_name(state.content);
  return stored;
}

bool EntryAccess::put(const EntryState& wanted, const FileStamp& present, const std::string& temporary) const {
  AGW_ASSERT(problem_.empty());
  if (directory_) return put_entry(directory_->descriptor(), name_, wanted, present, path_, temporary);
  if (wanted.kind == EntryKind::absent) return true;
  const auto top = root();
  const auto made = top.make_directories(parent_, 0755);
  const auto opened = made ? top.directory(parent_) : FileResult<Directory>(made.error());
  if (!opened) {
    throw std::system_error(std::make_error_code(std::errc::io_error),
                            path_ + ": its directory: " + std::string(to_string(opened.error())));
  }
  return put_entry(opened->descriptor(), name_, wanted, present, path_, temporary);
}

void EntryAccess::take_from(const std::string& name) const {
  if (directory_) rename_entry(directory_->descriptor(), name, name_, path_);
}

void EntryAccess::remove_named(const std::string& name) const {
  if (!directory_ || ::unlinkat(directory_->descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) return;
  if (errno != EISDIR || ::unlinkat(directory_->descriptor(), name.c_str(), AT_REMOVEDIR) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot remove " + name + " beside " + path_);
}

}  // namespace agw
