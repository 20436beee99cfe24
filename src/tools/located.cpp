#include "tools/located.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "api/error.hpp"
#include "io/covered_places.hpp"
#include "io/resolve_path.hpp"
#include "tools/failed.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

std::string magic_path(const Descriptor& descriptor) { return fmt::format("/proc/self/fd/{}", descriptor.get()); }

FileType type_of(mode_t mode) {
  if (S_ISREG(mode)) return FileType::regular;
  return S_ISDIR(mode) ? FileType::directory : FileType::other;
}

/// Nothing that the kernel leads elsewhere is followed, such as `/proc/self/root`.
Descriptor look_at(const fs::path& path) {
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

/// What could not be opened is judged by where it would be. What leads through the kernel's own links lies nowhere.
Located missing(const fs::path& path, FileError problem, const FileRoots& roots) {
  Located located{.path = resolve_path(path), .problem = problem};
  located.place = problem == FileError::symlink ? FilePlace::outside : place_of(located.path, roots);
  return located;
}

bool is_private_by_another_name(const struct stat& status, const FileRoots& roots) {
  if (!S_ISREG(status.st_mode) || status.st_nlink < 2) return false;
  return linked_private_files(roots.home, roots.data_directory).contains({status.st_dev, status.st_ino});
}

[[noreturn]] void refuse(const Located& located, std::string_view why) {
  throw BadRequest(fmt::format("{}: {}", located.path.string(), why));
}

/// Of what was only looked at, something that can be read.
Descriptor reopen(const Located& located, int flags) {
  if (located.problem) refuse(located, to_string(*located.problem));
  Descriptor opened(::open(magic_path(*located.descriptor).c_str(), flags | O_CLOEXEC));
  if (!opened) refuse(located, to_string(problem_of(errno)));
  return opened;
}

}  // namespace

fs::path absolute_path(std::string_view path, const FileRoots& roots) {
  if (path.find('\0') != path.npos) throw BadRequest("path: not a possible name");
  if (path == "~") return roots.home;
  if (path.starts_with("~/")) return roots.home / path.substr(2);
  return roots.working_directory() / path;
}

Located locate(const fs::path& path, const FileRoots& roots) {
  auto descriptor = look_at(path);
  if (!descriptor) return missing(path, problem_of(errno), roots);
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0 || status.st_nlink == 0)
    return missing(path, FileError::not_found, roots);
  Located located{.path = fs::read_symlink(magic_path(descriptor)), .type = type_of(status.st_mode)};
  located.place = is_private_by_another_name(status, roots) ? FilePlace::never : place_of(located.path, roots);
  located.size = static_cast<std::uint64_t>(status.st_size);
  located.mode = status.st_mode & 0777u;
  located.has_other_names = S_ISREG(status.st_mode) && status.st_nlink > 1;
  located.descriptor = std::make_shared<Descriptor>(std::move(descriptor));
  return located;
}

ToolTarget target_of(const Located& located) { return {.place = located.place, .path = located.path.string()}; }

Descriptor open_file(const Located& located) {
  if (!located.problem && located.type == FileType::directory) refuse(located, "a directory");
  if (!located.problem && located.type != FileType::regular) refuse(located, "not a regular file");
  return reopen(located, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

Directory open_directory(const Located& located) {
  if (!located.problem && located.type != FileType::directory) refuse(located, "not a directory");
  const auto opened = reopen(located, O_RDONLY | O_DIRECTORY);
  auto directory = Directory::open(magic_path(opened), Symlinks::refuse);
  if (!directory) refuse(located, to_string(directory.error()));
  return *std::move(directory);
}

std::string shown_path(const fs::path& path, const FileRoots& roots) {
  const auto start = roots.working_directory();
  if (path == start || !is_within(path, start)) return path.string();
  return path.lexically_relative(start).string();
}

ToolOutcome refusal(const Permission& permission) { return failed(permission.reason); }

}  // namespace agw
