// Access to files beneath a directory that is safe even while names are changed concurrently.
//
// The danger: between a check of a path and its use, another program (such as an agent's command) replaces a directory
// on the path by a symlink to another place. The invariant: no function reads or changes a file outside of the opened
// directory.
//
//   - The directory is opened once. Everything else starts from its descriptor, which stays the same directory even if
//     it is renamed.
//   - `resolve` opens a path with openat2(2) and RESOLVE_BENEATH. The kernel resolves it in one go and fails with EXDEV
//     if `..`, an absolute path or a symlink leads out, so no check comes before the use. EAGAIN means that a rename
//     may have interfered; the call is then repeated.
//   - Functions that need the parent of a name (write, move, remove) resolve the parent, and then use the single name
//     with an *at call that does not follow a symlink at that name.
//   - RESOLVE_NO_MAGICLINKS also refuses the links in /proc, which lead to open files anywhere.

#include "io/files/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>

#include "base/async/assert.hpp"
#include "io/files/file_error.hpp"

namespace agw {

namespace {

/// The kernel returns EAGAIN if a directory was moved while it resolved `..`; that many in a row are not a coincidence.
constexpr int resolve_attempts = 100;

/// `errno` as a FileError if callers can handle it, otherwise as an exception.
FileError last_error(std::string_view path) {
  const auto error = errno;
  if (const auto expected = file_error_of(error)) return *expected;
  throw std::system_error(error, std::generic_category(), "cannot use " + std::string(path));
}

FileType type_of(mode_t mode) {
  if (S_ISREG(mode)) return FileType::regular;
  if (S_ISDIR(mode)) return FileType::directory;
  return S_ISLNK(mode) ? FileType::symlink : FileType::other;
}

FileType type_of(const dirent& entry) { return type_of(static_cast<mode_t>(DTTOIF(entry.d_type))); }

/// Some file systems do not report types together with names.
FileType type_of(int directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return type_of(entry);
  struct stat status{};
  if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return FileType::other;
  return type_of(status.st_mode);
}

bool is_listed(std::string_view name) { return name != "." && name != ".." && !is_temporary_name(name); }

/// Splits a path into its directory, which the kernel resolves, and its last name.
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == path.npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// Whether the name is valid for a directory entry.
bool is_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('\0') == name.npos;
}

FileResult<struct stat> status_of(const Descriptor& file, std::string_view path) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return last_error(path);
  return status;
}

FileStamp stamp_of(const struct stat& status) {
  return {.inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .modified_ns = nanoseconds_of(status.st_mtim),
          .changed_ns = nanoseconds_of(status.st_ctim)};
}

/// `size` is only a hint: a file may grow while it is read, and some file systems report no sizes.
FileResult<std::string> read_all(const Descriptor& file, std::size_t size, std::size_t limit, std::string_view path) {
  std::string content(std::max<std::size_t>(size, 4095) + 1, '\0');
  std::size_t used = 0;
  for (;;) {
    // A read of no bytes would look like the end of the file.
    AGW_ASSERT(used < content.size());
    const auto got = ::read(file.get(), content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return last_error(path);
    used += static_cast<std::size_t>(got);
    if (used > limit) return FileError::too_large;
    if (got == 0) break;
    if (used == content.size()) content.resize(2 * used);
  }
  AGW_ASSERT(used <= limit);
  content.resize(used);
  return content;
}

}  // namespace

std::optional<FileError> file_error_of(int error) {
  switch (error) {
    case ENOENT:
      return FileError::not_found;
    case ENOTDIR:
      return FileError::not_directory;
    case EXDEV:
      return FileError::outside;
    case ELOOP:
      return FileError::symlink;
    case ENAMETOOLONG:
    case EINVAL:
      return FileError::bad_name;
    case EISDIR:
      return FileError::is_directory;
    case EEXIST:
    case ENOTEMPTY:
      return FileError::exists;
    case ENXIO:
      return FileError::not_regular;
    case EACCES:
    case EPERM:
    case EROFS:
      return FileError::permission;
    default:
      return std::nullopt;
  }
}

std::string_view to_string(FileError error) {
  switch (error) {
    case FileError::not_found:
      return "not found";
    case FileError::outside:
      return "outside of the directory";
    case FileError::symlink:
      return "a symbolic link that is not followed";
    case FileError::bad_name:
      return "not a possible name";
    case FileError::is_directory:
      return "a directory";
    case FileError::not_directory:
      return "not a directory";
    case FileError::not_regular:
      return "not a regular file";
    case FileError::permission:
      return "permission denied";
    case FileError::too_large:
      return "too large";
    case FileError::exists:
      return "there already";
  }
  return "unknown error";
}

void throw_exception_from_error(FileError error, const boost::source_location&) {
  throw std::system_error(std::make_error_code(std::errc::io_error), std::string(to_string(error)));
}

FileResult<Directory> Directory::open(const std::filesystem::path& path, Symlinks symlinks) {
  Descriptor opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return last_error(path.native());
  return Directory(std::move(opened), symlinks);
}

FileResult<Descriptor> Directory::resolve(std::string_view path, std::uint64_t flags) const {
  AGW_ASSERT(descriptor_);
  // Files are made in their parent, with a mode.
  AGW_ASSERT((flags & O_CREAT) == 0);
  const std::string text(path);
  if (text.find('\0') != text.npos || text.empty()) return FileError::bad_name;
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (symlinks_ == Symlinks::refuse) how.resolve |= RESOLVE_NO_SYMLINKS;
  for (int attempt = 0; attempt < resolve_attempts; ++attempt) {
    const auto opened = ::syscall(SYS_openat2, descriptor_.get(), text.c_str(), &how, sizeof how);
    if (opened >= 0) return Descriptor(static_cast<int>(opened));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  if (errno == ENOSYS) {
    throw_errno("files are opened by openat2, which Linux has since 5.6 and systemd's RestrictSUIDSGID forbids");
  }
  return last_error(path);
}

FileResult<Directory> Directory::directory(std::string_view path) const {
  auto opened = resolve(path, O_RDONLY | O_DIRECTORY);
  if (!opened) return opened.error();
  return Directory(*std::move(opened), symlinks_);
}

FileResult<Descriptor> Directory::file(std::string_view path) const {
  auto opened = resolve(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!opened) return opened.error();
  const auto status = status_of(*opened, path);
  if (!status) return status.error();
  if (S_ISDIR(status->st_mode)) return FileError::is_directory;
  if (!S_ISREG(status->st_mode)) return FileError::not_regular;
  return opened;
}

FileResult<std::string> Directory::read(std::string_view path, std::size_t limit) const {
  AGW_DEBUG_ASSERT(may_block());

  const auto opened = file(path);
  if (!opened) return opened.error();
  return read_opened(*opened, limit);
}

FileStamp stamp_of(const Descriptor& file) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) throw_errno("cannot use a file");
  return stamp_of(status);
}

std::string read_range(const Descriptor& file, std::uint64_t offset, std::size_t length) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(file);

  std::string bytes(length, '\0');
  std::size_t used = 0;
  while (used < length) {
    const auto got = ::pread(file.get(), bytes.data() + used, length - used, static_cast<off_t>(offset + used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("cannot read a file");
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    AGW_ASSERT(used <= length);
  }
  bytes.resize(used);
  return bytes;
}

FileResult<std::string> read_opened(const Descriptor& file, std::size_t limit) {
  const auto status = status_of(file, "a file");
  if (!status) return status.error();
  if (static_cast<std::uint64_t>(status->st_size) > limit) return FileError::too_large;
  return read_all(file, static_cast<std::size_t>(status->st_size), limit, "a file");
}

FileResult<FileStatus> Directory::status(std::string_view path) const {
  const auto opened = resolve(path, O_PATH);
  if (!opened) return opened.error();
  const auto status = status_of(*opened, path);
  if (!status) return status.error();
  const auto modified =
      std::chrono::seconds(status->st_mtim.tv_sec) + std::chrono::nanoseconds(status->st_mtim.tv_nsec);
  return FileStatus{.type = type_of(status->st_mode),
                    .size = static_cast<std::uint64_t>(status->st_size),
                    .modified_at = Timestamp(std::chrono::floor<std::chrono::milliseconds>(modified)),
                    .mode = status->st_mode & 07777u};
}

FileResult<FileStamp> Directory::stamp(std::string_view path) const {
  struct stat direct{};
  // One call instead of three for an entry of this directory, of which walks ask for thousands.
  const bool is_entry = is_name(path) && path.find('/') == path.npos;
  if (is_entry && ::fstatat(descriptor_.get(), std::string(path).c_str(), &direct, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISLNK(direct.st_mode)) {
    return stamp_of(direct);
  }
  const auto opened = resolve(path, O_PATH);
  if (!opened) return opened.error();
  const auto status = status_of(*opened, path);
  if (!status) return status.error();
  return stamp_of(*status);
}

bool Directory::matches_stamp(std::string_view path, const FileStamp& stamp) const {
  struct stat status{};
  if (::fstatat(descriptor_.get(), std::string(path).c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    return stamp_of(status) == stamp;
  }
  return errno == ENOENT && stamp == FileStamp{};
}

FileResult<void> Directory::visit(std::string_view path, const std::function<bool(DirectoryEntry)>& each) const {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(each);

  auto opened = resolve(path, O_RDONLY | O_DIRECTORY);
  if (!opened) return opened.error();
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(opened->get()), ::closedir);
  if (!stream) return last_error(path);
  const int directory = opened->release();
  errno = 0;
  while (const auto* entry = ::readdir(stream.get())) {
    if (is_listed(entry->d_name) && !each({entry->d_name, type_of(directory, *entry)})) return {};
    errno = 0;
  }
  if (errno != 0) return last_error(path);
  return {};
}

FileResult<std::vector<DirectoryEntry>> Directory::list(std::string_view path, std::size_t limit) const {
  AGW_DEBUG_ASSERT(may_block());

  std::vector<DirectoryEntry> entries;
  bool too_many = false;
  const auto visited = visit(path, [&](DirectoryEntry entry) {
    too_many = entries.size() == limit;
    if (!too_many) entries.push_back(std::move(entry));
    return !too_many;
  });
  if (!visited) return visited.error();
  if (too_many) return FileError::too_large;
  AGW_ASSERT(entries.size() <= limit);
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

FileResult<void> Directory::write(std::string_view path, std::string_view content, mode_t mode,
                                  Durability durability) const {
  AGW_DEBUG_ASSERT(may_block());
  AGW_DEBUG_ASSERT((mode & ~07777u) == 0);

  const auto [parent, name] = split(path);
  if (name.empty() || name.find('\0') != name.npos) return FileError::bad_name;
  if (name == "." || name == "..") return FileError::is_directory;
  const auto opened = resolve(parent, O_RDONLY | O_DIRECTORY);
  if (!opened) return opened.error();
  try {
    replace_file_in(opened->get(), std::string(name), content, mode, path, durability);
  } catch (const std::system_error& error) {
    if (const auto expected = file_error_of(error.code().value())) return *expected;
    throw;
  }
  return {};
}

FileResult<void> Directory::make_directories(std::string_view path, mode_t mode) const {
  AGW_DEBUG_ASSERT(may_block());

  if (path.find('\0') != path.npos) return FileError::bad_name;
  auto parent = resolve(".", O_PATH | O_DIRECTORY);
  for (std::size_t begin = 0, end = 0; parent && end < path.size(); begin = end) {
    end = std::min(path.find('/', begin), path.size() - 1) + 1;
    AGW_ASSERT(end > begin);
    const std::string name(path.substr(begin, end - begin));
    if (name != "/" && ::mkdirat(parent->get(), name.c_str(), mode) != 0 && errno != EEXIST) return last_error(path);
    // Resolves from the root again, because `..` relative to the parent would be rejected.
    parent = resolve(path.substr(0, end), O_PATH | O_DIRECTORY);
  }
  if (!parent) return parent.error();
  return {};
}

FileResult<void> Directory::move(std::string_view from, std::string_view to) const {
  AGW_DEBUG_ASSERT(may_block());

  const auto [from_parent, from_name] = split(from);
  const auto [to_parent, to_name] = split(to);
  if (!is_name(from_name) || !is_name(to_name)) return FileError::bad_name;
  const auto source = resolve(from_parent, O_PATH | O_DIRECTORY);
  if (!source) return source.error();
  const auto target = resolve(to_parent, O_PATH | O_DIRECTORY);
  if (!target) return target.error();
  const std::string old_name(from_name);
  const std::string new_name(to_name);
  struct stat moved{};
  if (::fstatat(source->get(), old_name.c_str(), &moved, AT_SYMLINK_NOFOLLOW) != 0) return last_error(from);
  // A directory can replace only an empty directory, so no data is lost.
  const unsigned flags = S_ISDIR(moved.st_mode) ? 0 : RENAME_NOREPLACE;
  if (::renameat2(source->get(), old_name.c_str(), target->get(), new_name.c_str(), flags) == 0) return {};
  // Network file systems do not support the flags. Like a rename with them, a link never replaces an entry.
  const bool knows_no_flags = flags != 0 && errno == EINVAL;
  if (!knows_no_flags || ::linkat(source->get(), old_name.c_str(), target->get(), new_name.c_str(), 0) != 0 ||
      ::unlinkat(source->get(), old_name.c_str(), 0) != 0) {
    return last_error(to);
  }
  return {};
}

FileResult<void> Directory::remove(std::string_view path) const {
  const auto [parent, name] = split(path);
  if (!is_name(name)) return FileError::bad_name;
  const auto opened = resolve(parent, O_PATH | O_DIRECTORY);
  if (!opened) return opened.error();
  if (::unlinkat(opened->get(), std::string(name).c_str(), 0) != 0) return last_error(path);
  return {};
}

void Directory::sync() const {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(descriptor_);

  if (::syncfs(descriptor_.get()) != 0) throw_errno("cannot put on disk what was written to " + real_path().string());
}

std::filesystem::path Directory::real_path() const { return agw::real_path(descriptor_); }

}  // namespace agw
