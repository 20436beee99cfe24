#include "tools/opened_path.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "io/files/resolve_path.hpp"
#include "io/sandbox/masked_paths.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

std::string magic_path(const Descriptor& descriptor) { return fmt::format("/proc/self/fd/{}", descriptor.get()); }

FileType type_of(mode_t mode) {
  if (S_ISREG(mode)) return FileType::regular;
  return S_ISDIR(mode) ? FileType::directory : FileType::other;
}

/// Magic links of the kernel, such as `/proc/self/root`, are not followed.
Descriptor open_path(const fs::path& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  return Descriptor(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

FileError problem_of(int error) {
  switch (error) {
    case ELOOP:
    case EXDEV:
      return FileError::symlink;
    case ENOTDIR:
      return FileError::not_directory;
    case EACCES:
    case EPERM:
      return FileError::permission;
    case ENAMETOOLONG:
    case EINVAL:
      return FileError::bad_name;
    default:
      return FileError::not_found;
  }
}

/// Decides the place of a missing file by the path that it would have. Paths through magic links have no place.
OpenedPath missing(const fs::path& path, FileError problem, const FileRoots& roots) {
  OpenedPath opened_path{.path = resolve_path(path), .problem = problem};
  opened_path.place = problem == FileError::symlink ? FilePlace::outside : place_of(opened_path.path, roots);
  return opened_path;
}

bool is_private_by_another_name(const struct stat& status, const FileRoots& roots) {
  if (!S_ISREG(status.st_mode) || status.st_nlink < 2) return false;
  return hard_linked_private_files(roots.home, roots.data_directory).contains({status.st_dev, status.st_ino});
}

[[noreturn]] void refuse(const OpenedPath& opened_path, std::string_view why) {
  throw BadRequest(fmt::format("{}: {}", opened_path.path.string(), why));
}

/// Reopens a file opened with O_PATH for reading.
Descriptor reopen(const OpenedPath& opened_path, int flags) {
  if (opened_path.problem) refuse(opened_path, to_string(*opened_path.problem));
  AGW_ASSERT(opened_path.descriptor);
  Descriptor opened(::open(magic_path(*opened_path.descriptor).c_str(), flags | O_CLOEXEC));
  if (!opened) refuse(opened_path, to_string(problem_of(errno)));
  return opened;
}

}  // namespace

fs::path absolute_path(std::string_view path, const FileRoots& roots) {
  if (path.find('\0') != path.npos) throw BadRequest("path: not a possible name");
  if (path == "~") return roots.home;
  if (path.starts_with("~/")) return roots.home / path.substr(2);
  return roots.working_directory() / path;
}

OpenedPath locate(const fs::path& path, const FileRoots& roots) {
  AGW_DEBUG_ASSERT(may_block());

  auto descriptor = open_path(path);
  if (!descriptor) return missing(path, problem_of(errno), roots);
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0 || status.st_nlink == 0)
    return missing(path, FileError::not_found, roots);
  OpenedPath opened_path{.path = fs::read_symlink(magic_path(descriptor)), .type = type_of(status.st_mode)};
  opened_path.place = is_private_by_another_name(status, roots) ? FilePlace::never : place_of(opened_path.path, roots);
  opened_path.size = static_cast<std::uint64_t>(status.st_size);
  opened_path.mode = status.st_mode & 0777u;
  opened_path.has_other_names = S_ISREG(status.st_mode) && status.st_nlink > 1;
  opened_path.descriptor = std::make_shared<Descriptor>(std::move(descriptor));
  return opened_path;
}

ToolTarget target_of(const OpenedPath& opened_path) {
  return {.place = opened_path.place, .path = opened_path.path.string()};
}

Descriptor open_file(const OpenedPath& opened_path) {
  AGW_DEBUG_ASSERT(may_block());

  if (!opened_path.problem && opened_path.type == FileType::directory) refuse(opened_path, "a directory");
  if (!opened_path.problem && opened_path.type != FileType::regular) refuse(opened_path, "not a regular file");
  return reopen(opened_path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

Directory open_directory(const OpenedPath& opened_path) {
  AGW_DEBUG_ASSERT(may_block());

  if (!opened_path.problem && opened_path.type != FileType::directory) refuse(opened_path, "not a directory");
  const auto opened = reopen(opened_path, O_RDONLY | O_DIRECTORY);
  auto directory = Directory::open(magic_path(opened), Symlinks::refuse);
  if (!directory) refuse(opened_path, to_string(directory.error()));
  return *std::move(directory);
}

std::string shown_path(const fs::path& path, const FileRoots& roots) {
  const auto start = roots.working_directory();
  if (path == start || !is_within(path, start)) return path.string();
  return path.lexically_relative(start).string();
}

ToolOutcome refusal(const Permission& permission) { return failed(permission.reason); }

}  // namespace agw
