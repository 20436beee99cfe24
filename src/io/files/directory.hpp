#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "base/time/time.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

/// Why a file in a Directory is not available.
enum class FileError {
  not_found,
  outside,   ///< the path leaves the directory: it is absolute, has `..`, or leads through a symlink
  symlink,   ///< a symlink that must not be followed, a loop, or a magic link of /proc
  bad_name,  ///< empty, too long, or with a zero byte
  is_directory,
  not_directory,
  not_regular,  ///< a device, a socket or a pipe
  permission,
  too_large,
  exists,  ///< the target of a move
};

/// `not found`, `outside of the directory` and so on, for messages.
std::string_view to_string(FileError error);

/// A value or a FileError. `value()` throws std::system_error if there is no value.
template <class T>
using FileResult = boost::system::result<T, FileError>;

[[noreturn]] void throw_exception_from_error(FileError error, const boost::source_location& where);

enum class FileType { regular, directory, symlink, other };

struct FileStatus {
  FileType type = FileType::other;
  std::uint64_t size = 0;  ///< bytes
  Timestamp modified_at;
  mode_t mode = 0;  ///< permission bits
};

/// Since the epoch.
inline std::int64_t nanoseconds_of(const timespec& time) {
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// Identifies a version of a file without reading it: versions with different content have different stamps, unless the
/// clock was set back. All zero if the file does not exist.
struct FileStamp {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  ///< last change of the content, since the epoch
  std::int64_t changed_ns = 0;   ///< last change of content or attributes, since the epoch
  bool operator==(const FileStamp&) const = default;
};

/// The time of the last modification of the content.
inline Timestamp modified_at(const FileStamp& stamp) {
  return Timestamp(std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(stamp.modified_ns)));
}

struct DirectoryEntry {
  std::string name;
  FileType type = FileType::other;
};

/// How a Directory treats symlinks whose targets are inside it.
enum class Symlinks { follow, refuse };

/// An open directory that paths cannot leave: the kernel resolves them beneath it (openat2), whatever names and
/// symlinks they contain, even while files are moved. Paths are relative; `.` is the directory itself.
///
/// Failures that callers handle are FileErrors. Others, such as a full or faulty disk, are thrown as std::system_error.
/// All functions block, so do not call them on the loop.
/// Example: src/io/files/directory_test.cpp: DirectoryTest.ReadsWhatLiesBeneath
class Directory {
public:
  /// Opens a directory at a trusted path; `symlinks` applies to paths beneath it.
  static FileResult<Directory> open(const std::filesystem::path& path, Symlinks symlinks = Symlinks::follow);

  /// Opens a subdirectory, from which no path leads back up.
  FileResult<Directory> directory(std::string_view path) const;

  /// Opens a regular file for reading. Does not block if there is a pipe instead.
  FileResult<Descriptor> file(std::string_view path) const;

  /// Reads a file; too_large if it has more than `limit` bytes.
  FileResult<std::string> read(std::string_view path, std::size_t limit) const;

  /// The status of the file that the path leads to.
  FileResult<FileStatus> status(std::string_view path) const;
  FileResult<FileStamp> stamp(std::string_view path) const;
  /// Whether `stamp` would return this stamp, in a third of the time, because it opens nothing. Symlinks in the path
  /// are followed, but their targets have other stamps.
  bool matches_stamp(std::string_view path, const FileStamp& stamp) const;

  /// Calls `each` with the entries that `list` would return, in any order, until it returns false.
  FileResult<void> visit(std::string_view path, const std::function<bool(DirectoryEntry)>& each) const;

  /// The entries sorted by name, without `.`, `..` and temporary files; too_large if there are more than `limit`.
  FileResult<std::vector<DirectoryEntry>> list(std::string_view path, std::size_t limit) const;

  /// Creates or replaces the file atomically, as `replace_file` does. Its directory must exist. A symlink at the path
  /// is replaced, not followed.
  FileResult<void> write(std::string_view path, std::string_view content, mode_t mode = 0600,
                         Durability durability = Durability::now) const;

  /// Creates the directory and its missing parents.
  FileResult<void> make_directories(std::string_view path, mode_t mode = 0700) const;

  /// Moves a file or a directory atomically. Fails with `exists` if `to` exists, unless a directory replaces an empty
  /// directory. On disk after the next sync.
  FileResult<void> move(std::string_view from, std::string_view to) const;

  /// Removes a file.
  FileResult<void> remove(std::string_view path) const;

  /// Flushes all writes on this file system to disk.
  void sync() const;

  /// Valid during the lifetime of this object.
  int descriptor() const { return descriptor_.get(); }

  /// The directory's current path, without symlinks.
  std::filesystem::path real_path() const;

private:
  Directory(Descriptor descriptor, Symlinks symlinks) : descriptor_(std::move(descriptor)), symlinks_(symlinks) {}
  FileResult<Descriptor> resolve(std::string_view path, std::uint64_t flags) const;

  Descriptor descriptor_;
  Symlinks symlinks_ = Symlinks::follow;
};

/// The version of an open file.
FileStamp stamp_of(const Descriptor& file);

/// Reads at most `length` bytes at `offset` from an open regular file; fewer at its end. Throws std::system_error.
/// Blocks.
/// Example: src/io/files/directory_test.cpp: DirectoryTest.ReadsARange
std::string read_range(const Descriptor& file, std::uint64_t offset, std::size_t length);

/// Reads an open regular file from its current position; too_large if it has more than `limit` bytes left.
FileResult<std::string> read_opened(const Descriptor& file, std::size_t limit);

}  // namespace agw
