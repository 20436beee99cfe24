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

/// The state of a directory entry at some point in time. Symlinks are not followed.
struct EntryState {
  EntryKind kind = EntryKind::absent;
  mode_t mode = 0;               ///< permission bits
  std::int64_t modified_ns = 0;  ///< since the epoch
  std::int64_t accessed_ns = 0;  ///< since the epoch
  FileStamp stamp{};             ///< all zero if absent
  std::uint64_t links = 0;       ///< the number of hard links
  std::uint64_t device = 0;
  bool has_content = false;  ///< false for a file that is too large, unreadable, or changed during the read
  std::string content{};     ///< the content of a file, or the target of a symlink
};

/// The state of an entry of an open directory. Reads the content if it has at most `limit` bytes. Does not open a pipe
/// or a device. Throws std::system_error that names `path`. Blocks.
/// Example: src/io/files/entry_state_test.cpp: EntryStateTest.IsReadWithContentModeAndTimes
EntryState read_entry(int directory, const std::string& name, std::size_t limit, const std::filesystem::path& path);

/// The same without the content.
EntryState stat_entry(int directory, const std::string& name, const std::filesystem::path& path);
/// The state of an open file or directory.
EntryState stat_opened(int descriptor, const std::filesystem::path& path);

/// The creation time of the entry in nanoseconds since the epoch, which a rename does not change. Nullopt if the file
/// system does not provide it, or if the entry no longer has the stamp `stamp`. Blocks.
std::optional<std::int64_t> birth_of(int directory, const std::string& name, const FileStamp& stamp);

/// The time that the kernel would give to a file changed now, in nanoseconds since the epoch.
std::int64_t file_clock_now();

/// A new file or symlink, already on disk (with `Durability::now`) under a temporary name, which `put_entry` renames.
/// Otherwise the destructor deletes it. Its directory must stay open.
class NewEntry {
public:
  /// Creates it with the kind, content, mode and (if they are set) times of `wanted`. Throws std::system_error that
  /// names `path`. Blocks.
  NewEntry(int directory, const EntryState& wanted, const std::filesystem::path& path,
           std::string name = temporary_name(), Durability durability = Durability::now);
  ~NewEntry();
  NewEntry(const NewEntry&) = delete;
  NewEntry& operator=(const NewEntry&) = delete;

  const std::string& name() const { return name_; }
  /// Removes the entry that now has the temporary name: the new entry, or the one that it replaced.
  void remove();
  /// Removes the entry that it replaced. Only the destructor frees its blocks, which may take longer than the rest.
  void remove_former();
  /// Keeps the entry with the temporary name, because it belongs to another program.
  void keep() { kept_ = true; }

private:
  bool make_link(const EntryState& wanted) const;
  bool make_file(const EntryState& wanted);
  void set_times(const EntryState& wanted) const;

  int directory_;
  std::string name_;
  Descriptor file_;
  Descriptor former_;
  bool kept_ = false;
};

/// Renames an entry in its directory; returns false if `to` exists. Only the caller may use the name `from`. Throws
/// std::system_error that names `path`. Blocks.
bool rename_entry(int directory, const std::string& from, const std::string& to, const std::filesystem::path& path);

/// Replaces an entry by one with the kind, content, mode and times of `wanted`, which is on disk when the function
/// returns. Replaces it atomically and only if its stamp is `present`: returns false and changes nothing if another
/// program has changed it, even immediately before. Directories are created, and are removed and replaced only if they
/// are empty. A kill can leave a file named `temporary` next to the entry. On file systems that cannot exchange names,
/// a replacement of a file by a directory, or the reverse, can leave only that file. Throws std::system_error that
/// names `path`. Blocks. Example: src/io/files/entry_state_test.cpp: EntryStateTest.IsNotReplacedIfItChangedSince
bool put_entry(int directory, const std::string& name, const EntryState& wanted, const FileStamp& present,
               const std::filesystem::path& path, const std::string& temporary = temporary_name());
/// The same with an entry created earlier in the same directory.
bool put_entry(int directory, const std::string& name, NewEntry& entry, const FileStamp& present,
               const std::filesystem::path& path, Durability durability = Durability::now);

}  // namespace agw
