#include "tools/files/write_target.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/text/is_within.hpp"
#include "io/files/descriptor.hpp"
#include "io/sandbox/masked_paths.hpp"
#include "io/sandbox/private_files.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

bool is_name(const fs::path& name) { return !name.empty() && name != "." && name != ".."; }

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw BadRequest(fmt::format("{}: {}", path.string(), why));
}

/// The agent's working area that contains the place: the project or the workspace.
std::optional<fs::path> working_root(FilePlace place, const FileRoots& roots) {
  if (place == FilePlace::project) return roots.project;
  return place == FilePlace::workspace ? std::optional(roots.workspace()) : std::nullopt;
}

/// Whether `path` is the target of a symlink at a guarded path. The target need not exist.
bool is_through_guarded_symlink(const fs::path& path, const fs::path& root) {
  return std::ranges::any_of(guarded_targets(root, path),
                             [&](const fs::path& target) { return is_within(path, target); });
}

/// Whether the path is guarded because it is in a Git repository, which can be any directory.
bool is_in_guarded_repository(const fs::path& path, const fs::path& root) {
  GuardedPathTracker way;
  Descriptor here(::open(root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  for (const auto& name : path.lexically_relative(root)) {
    if (holds_repository(here.get())) way.mark_repository();
    way.enter(name);
    here = Descriptor(::openat(here.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return way.is_guarded();
}

template <class T>
T value_or_refuse(FileResult<T> result, const fs::path& path) {
  if (!result) refuse(path, to_string(result.error()));
  return *std::move(result);
}

}  // namespace

WriteTarget::WriteTarget(const fs::path& path, const FileRoots& roots) : name_(path.filename().string()) {
  if (!is_name(name_)) refuse(path, "not the name of a file");
  auto above = path.parent_path();
  parent_ = locate(above, roots);
  while (parent_.problem == FileError::not_found && is_name(above.filename())) {
    missing_ = missing_.empty() ? above.filename() : above.filename() / missing_;
    above = above.parent_path();
    parent_ = locate(above, roots);
  }
  path_ = parent_.path / missing_ / name_;
  place_ = parent_.place == FilePlace::outside || parent_.problem == FileError::symlink ? FilePlace::outside
                                                                                        : place_of(path_, roots);
  const auto root = working_root(place_, roots);
  if (root && (is_through_guarded_symlink(path_, *root) || is_in_guarded_repository(path_, *root))) {
    place_ = FilePlace::guarded;
  }
  AGW_ASSERT(path_.filename() == name_);
  AGW_ASSERT(missing_.is_relative());
  if (parent_.problem || !missing_.empty()) return;
  AGW_ASSERT(parent_.descriptor);
  struct stat status{};
  if (::fstatat(parent_.descriptor->get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  exists_ = true;
  if (S_ISREG(status.st_mode)) {
    mode_ = status.st_mode & 0777u;
    owner_ = status.st_uid;
    group_ = status.st_gid;
  }
  if (S_ISDIR(status.st_mode)) refuse(path_, "a directory");
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) refuse(path_, "not a regular file");
}

Directory WriteTarget::made_parent() const {
  const auto top = open_directory(parent_);
  if (!missing_.empty()) value_or_refuse(top.make_directories(missing_.native(), 0755), path_);
  auto parent = value_or_refuse(top.directory(missing_.empty() ? "." : missing_.native()), path_);
  require_not_moved(parent);
  return parent;
}

void WriteTarget::require_not_moved(const Directory& parent) const {
  if (parent.real_path() / name_ != path_) refuse(path_, "its directory has been moved, nothing was written");
}

void WriteTarget::write(std::string_view content) const {
  AGW_DEBUG_ASSERT(may_block());

  try {
    value_or_refuse(made_parent().write(name_, content, mode_), path_);
  } catch (const std::system_error& error) {
    throw BadRequest(error.what());
  }
}

EntryState WriteTarget::state(std::size_t limit) const {
  AGW_DEBUG_ASSERT(may_block());

  if (!missing_.empty()) return {};
  try {
    return read_entry(open_directory(parent_).descriptor(), name_, limit, path_);
  } catch (const std::system_error& error) {
    throw BadRequest(error.what());
  }
}

EntryState WriteTarget::state_with(std::string content) const {
  return {.kind = EntryKind::file, .mode = mode_, .has_content = true, .content = std::move(content)};
}

std::vector<fs::path> WriteTarget::new_directories() const {
  std::vector<fs::path> made;
  auto path = parent_.path;
  for (const auto& name : missing_) made.push_back(path /= name);
  return made;
}

struct WriteTarget::Prepared {
  Directory parent;
  NewEntry entry;
};

std::shared_ptr<WriteTarget::Prepared> WriteTarget::prepare(const EntryState& wanted) const {
  AGW_DEBUG_ASSERT(may_block());

  try {
    auto parent = made_parent();
    const auto descriptor = parent.descriptor();
    std::shared_ptr<Prepared> made(new Prepared{std::move(parent), NewEntry(descriptor, wanted, path_)});
    // Fails unless the gateway runs as root or already owns the file; then the new file is its own.
    std::ignore = ::fchownat(descriptor, made->entry.name().c_str(), owner_, group_, AT_SYMLINK_NOFOLLOW);
    return made;
  } catch (const std::system_error& error) {
    throw BadRequest(error.what());
  }
}

void WriteTarget::replace(Prepared& prepared, const FileStamp& present) const {
  AGW_DEBUG_ASSERT(may_block());

  require_not_moved(prepared.parent);
  try {
    if (put_entry(prepared.parent.descriptor(), name_, prepared.entry, present, path_)) return;
  } catch (const std::system_error& error) {
    throw BadRequest(error.what());
  }
  refuse(path_, "the file was changed in the meantime, nothing was written; read it again");
}

}  // namespace agw
