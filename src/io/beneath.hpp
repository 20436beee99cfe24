#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "base/time.hpp"
#include "io/atomic_file.hpp"
#include "io/descriptor.hpp"

namespace agw {

/// Why a file beneath a Directory cannot be had.
enum class FileError {
  not_found,
  outside,   ///< the path leads out of the directory: absolute, `..`, or a symlink
  symlink,   ///< a symlink where none is followed, a loop of them, or one of /proc that leads anywhere
  bad_name,  ///< empty, too long, or with a zero byte
  is_directory,
  not_directory,
  not_regular,  ///< a device, a socket, a pipe
  permission,
  too_large,
  exists,  ///< where something is to be moved to
};

/// `not found`, `outside of the directory` and so on, for messages.
std::string_view to_string(FileError error);

/// A value, or the FileError. Asked for a value that is not there, `value()` throws std::system_error.
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

/// Tells one version of a file from another without reading it: any two that differ in content differ here, unless
/// somebody sets the clock back. All zero for a file that is not there.
struct FileStamp {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  ///< of the content, since the epoch
  std::int64_t changed_ns = 0;   ///< of anything, since the epoch
  bool operator==(const FileStamp&) const = default;
};

/// When the content was changed.
inline Timestamp modified_at(const FileStamp& stamp) {
  return Timestamp(std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(stamp.modified_ns)));
}

struct DirectoryEntry {
  std::string name;
  FileType type = FileType::other;
};

/// What a Directory does with symlinks that stay inside.
enum class Symlinks { follow, refuse };

/// An open directory that nothing leads out of: paths are resolved by the kernel beneath it, whatever they and the
/// symlinks in them say, also while somebody moves things about. Paths are relative; `.` is the directory itself.
///
/// Failures that a caller has an answer to are FileErrors. Others, such as a full or broken disk, are thrown as
/// std::system_error. All of it blocks: not for the loop.
class Directory {
public:
  /// Opens a directory whose own path is trusted; `symlinks` is for the paths beneath it.
  static FileResult<Directory> open(const std::filesystem::path& path, Symlinks symlinks = Symlinks::follow);

  /// One beneath, from which nothing leads back up.
  FileResult<Directory> directory(std::string_view path) const;

  /// The regular file, for reading. A pipe in its place does not make it wait.
  FileResult<Descriptor> file(std::string_view path) const;

  /// Its bytes; too_large when there are more than `limit`.
  FileResult<std::string> read(std::string_view path, std::size_t limit) const;

  /// Of what the path leads to.
  FileResult<FileStatus> status(std::string_view path) const;
  FileResult<FileStamp> stamp(std::string_view path) const;
  /// Whether `stamp` would answer this, in a third of its time: nothing is opened, so that a symlink on the way is
  /// followed; what it leads to has another stamp.
  bool is_still(std::string_view path, const FileStamp& stamp) const;

  /// Calls `each` with the entries as they come, without those that `list` leaves out, until it answers false.
  FileResult<void> visit(std::string_view path, const std::function<bool(DirectoryEntry)>& each) const;

  /// By name, without `.`, `..` and files that are being written; too_large when there are more than `limit`.
  FileResult<std::vector<DirectoryEntry>> list(std::string_view path, std::size_t limit) const;

  /// Makes it a file with this content in one step, as `replace_file` does. Its directory must be there. A symlink in
  /// its place is replaced, not followed.
  FileResult<void> write(std::string_view path, std::string_view content, mode_t mode = 0600,
                         Durability durability = Durability::now) const;

  /// Makes the directory and those above it that are missing.
  FileResult<void> make_directories(std::string_view path, mode_t mode = 0700) const;

  /// Moves a file or a directory, in one step; `exists` where `to` is anything but an empty directory in the place of
  /// one. Not on disk before the next sync.
  FileResult<void> move(std::string_view from, std::string_view to) const;

  /// Takes a file away.
  FileResult<void> remove(std::string_view path) const;

  /// Puts everything on disk that was written to its file system.
  void sync() const;

  /// Where it really is now.
  std::filesystem::path real_path() const;

private:
  Directory(Descriptor descriptor, Symlinks symlinks) : descriptor_(std::move(descriptor)), symlinks_(symlinks) {}
  FileResult<Descriptor> resolve(std::string_view path, std::uint64_t flags) const;

  Descriptor descriptor_;
  Symlinks symlinks_ = Symlinks::follow;
};

/// The bytes of an open regular file, from where it stands; too_large when there are more than `limit`.
FileResult<std::string> read_opened(const Descriptor& file, std::size_t limit);

}  // namespace agw
