#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/files/atomic_file.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/directory.hpp"

namespace agw {

enum class EntryKind { absent, file, symlink, directory, other };

/// A directory entry at one moment. Symlinks are not followed.
struct EntryState {
  EntryKind kind = EntryKind::absent;
  mode_t mode = 0;               ///< permission bits
  std::int64_t modified_ns = 0;  ///< since the epoch
  std::int64_t accessed_ns = 0;  ///< since the epoch
  FileStamp stamp{};             ///< all zero if absent
  std::uint64_t links = 0;       ///< how many names the file has
  std::uint64_t device = 0;
  bool has_content = false;  ///< false for a file that is too large, unreadable, or changed while it was read
  std::string content{};     ///< of a file; the target of a symlink
};

/// The state of an entry of an open directory. Content is read if it has at most `limit` bytes; a pipe or a device in
/// its place is not opened. Throws std::system_error that names `path`. Blocks.
/// Example: src/io/files/entry_state_test.cpp: EntryStateTest.IsReadWithContentModeAndTimes
EntryState read_entry(int directory, const std::string& name, std::size_t limit, const std::filesystem::path& path);

/// The same without the content.
EntryState stat_entry(int directory, const std::string& name, const std::filesystem::path& path);
/// That of an open file or directory.
EntryState stat_opened(int descriptor, const std::filesystem::path& path);

/// When the entry was made, in nanoseconds since the epoch, which a rename does not change; no value if the file system
/// does not say, or if the entry is no longer that of `stamp`. Blocks.
std::optional<std::int64_t> birth_of(int directory, const std::string& name, const FileStamp& stamp);

/// The time with which the kernel would mark a file that is made or changed now, in nanoseconds since the epoch.
std::int64_t file_clock_now();

/// A new file or symlink that is on disk under a temporary name, until `put_entry` gives it its own. It is deleted if
/// it gets none. Its directory must stay open.
class NewEntry {
public:
  /// Makes it with the kind, content, mode and (if they are set) times of `wanted`. Throws std::system_error that names
  /// `path`. Blocks.
  NewEntry(int directory, const EntryState& wanted, const std::filesystem::path& path,
           std::string name = temporary_name());
  ~NewEntry();
  NewEntry(const NewEntry&) = delete;
  NewEntry& operator=(const NewEntry&) = delete;

  const std::string& name() const { return name_; }
  /// Removes what the name leads to now: itself, or the file that it took the place of.
  void remove();
  /// The name now belongs to a file of somebody else.
  void keep() { kept_ = true; }

private:
  bool make_link(const EntryState& wanted) const;
  bool make_file(const EntryState& wanted);
  void set_times(const EntryState& wanted) const;

  int directory_;
  std::string name_;
  Descriptor file_;
  bool kept_ = false;
};

/// Gives an entry another name in its directory, unless that is taken: then returns false. `from` is a name that only
/// this call uses. Throws std::system_error that names `path`. Blocks.
bool rename_entry(int directory, const std::string& from, const std::string& to, const std::filesystem::path& path);

/// Gives the entry the kind, content, mode and times of `wanted`, on disk when it returns. It is replaced atomically
/// and only while it is what `present` says: returns false, and changes nothing, if somebody else changed it, even
/// in the last moment. Directories are made, removed and replaced only empty. A kill can leave a file with the name
/// `temporary` beside it, or, between a file and a directory on file systems that cannot exchange names, instead of it.
/// Throws std::system_error that names `path`. Blocks. Example:
/// src/io/files/entry_state_test.cpp: EntryStateTest.IsNotReplacedIfItChangedSince
bool put_entry(int directory, const std::string& name, const EntryState& wanted, const FileStamp& present,
               const std::filesystem::path& path, const std::string& temporary = temporary_name());
/// The same with an entry that was made before, in the same directory.
bool put_entry(int directory, const std::string& name, NewEntry& entry, const FileStamp& present,
               const std::filesystem::path& path);

}  // namespace agw
