#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "features/checkpoints/store.hpp"
#include "io/files/directory.hpp"
#include "io/files/entry_state.hpp"

namespace agw {

/// A path whose directory is opened without following any symlink. All functions block and throw std::system_error.
class EntryAccess {
public:
  /// `path` is absolute.
  static EntryAccess open(const std::string& path);

  /// Why the path cannot be used; empty if it can. A missing directory is no problem.
  const std::string& problem() const { return problem_; }
  /// No value if its directory does not exist.
  const std::optional<Directory>& directory() const { return directory_; }

  /// The entry, with its content if that has at most `limit` bytes.
  EntryState read(std::size_t limit) const;
  /// Another entry of the same directory.
  EntryState read_named(const std::string& name, std::size_t limit) const;
  /// The same, with the hash of the content.
  StoredState now(std::size_t limit) const { return stored(read(limit)); }
  /// An entry that was read, as it is stored.
  static StoredState stored(const EntryState& state);

  /// See `put_entry`. Creates missing directories for what is to exist.
  bool put(const EntryState& wanted, const FileStamp& present, const std::string& temporary) const;
  /// Gives the entry that has another name in the same directory this one, unless it is taken.
  void take_from(const std::string& name) const;
  /// Removes another entry of the same directory, if it is there. A directory must be empty.
  void remove_named(const std::string& name) const;

private:
  std::string path_;
  std::string parent_;  ///< without the leading slash
  std::string name_;
  std::string problem_;
  std::optional<Directory> directory_;
};

}  // namespace agw
