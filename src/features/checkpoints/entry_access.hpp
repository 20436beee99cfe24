#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "features/checkpoints/store.hpp"
#include "io/files/directory.hpp"
#include "io/files/entry_state.hpp"

namespace agw {

/// Access to a path whose directory is opened without following symlinks. All functions block and throw
/// std::system_error.
class EntryAccess {
public:
  /// `path` is absolute.
  static EntryAccess open(const std::string& path);

  /// Why the path cannot be used; empty if it can. A missing directory does not count as a problem.
  const std::string& problem() const { return problem_; }
  /// No value if its directory does not exist.
  const std::optional<Directory>& directory() const { return directory_; }

  /// The state of the entry, including its content if that has at most `limit` bytes.
  EntryState read(std::size_t limit) const;
  /// Like `read`, for another entry of the same directory.
  EntryState read_named(const std::string& name, std::size_t limit) const;
  /// The state of the entry, with the hash of its content.
  StoredState now(std::size_t limit) const { return stored(read(limit)); }
  /// Replaces the content by its hash.
  static StoredState stored(const EntryState& state);

  /// See `put_entry`. Creates missing directories if `wanted` is to exist.
  bool put(const EntryState& wanted, const FileStamp& present, const std::string& temporary) const;
  /// Renames the entry `name` of the same directory to this one's name, unless that exists.
  void take_from(const std::string& name) const;
  /// Removes another entry of the same directory, if it exists. A directory must be empty.
  void remove_named(const std::string& name) const;

private:
  std::string path_;
  std::string parent_;  ///< without the leading slash
  std::string name_;
  std::string problem_;
  std::optional<Directory> directory_;
};

}  // namespace agw
