#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "io/files/entry_state.hpp"
#include "tools/tool.hpp"

namespace agw {

/// Hashing this many bytes takes less time than switching to another thread and back.
constexpr std::size_t max_hashed_on_loop = std::size_t{16} * 1024;

/// A state of a file, and the SHA-256 of its content in hexadecimal digits if it has been computed already.
struct HashedState {
  std::shared_ptr<const EntryState> state;
  std::optional<std::string> hash{};
};

/// A file that a tool is about to replace or create.
struct PlannedWrite {
  std::filesystem::path path;
  HashedState before;
  HashedState after;
  std::vector<std::filesystem::path> new_directories;  ///< to be created, the uppermost first
  /// May be called on another thread as soon as the former content and the change are on disk. Must not throw or block.
  std::function<void()> on_recorded = [] {};
};

/// The directories that a command can write to, listed before it runs.
class CommandListing {
public:
  CommandListing() = default;
  virtual ~CommandListing() = default;
  CommandListing(const CommandListing&) = delete;
  CommandListing& operator=(const CommandListing&) = delete;
};

/// A host that a command reached or tried to reach.
struct ContactedHost {
  std::string host;
  int port = 0;
  bool allowed = false;
  std::string reason;  ///< why it was refused; else empty
  std::int64_t connections = 0;
};

/// Records the changes that calls make to files, so that they can be undone, and the hosts that calls reach. Used on
/// the loop.
class FileRecorder {
public:
  FileRecorder() = default;
  virtual ~FileRecorder() = default;
  FileRecorder(const FileRecorder&) = delete;
  FileRecorder& operator=(const FileRecorder&) = delete;

  /// The maximum size of stored contents, in bytes. Larger ones are not stored.
  virtual std::size_t max_file_size() const = 0;

  /// Called before a tool replaces a file. Stores the former content and the change; both are on disk when this
  /// returns. Throws ApiError if they cannot be stored; the file must then not be written.
  virtual Task<> before_write(const ToolRun& run, PlannedWrite write) = 0;
  /// Called after the file was replaced. Stores the new content as well; the file is already in place by then. Releases
  /// `former`, which keeps the blocks of the former file, on a thread that may block. Does not delay the call for
  /// either.
  virtual Task<> after_write(std::shared_ptr<const EntryState> after, std::shared_ptr<const void> former) = 0;

  /// Called before a command that can write to these directories. Stores the contents that it could overwrite. Throws
  /// ApiError if there is no space; the command must then not run.
  virtual Task<std::shared_ptr<CommandListing>> before_command(const ToolRun& run,
                                                               std::vector<std::filesystem::path> writable) = 0;
  /// Called after the command has ended. Records the changes since `before_command`.
  virtual Task<> after_command(const ToolRun& run, std::shared_ptr<CommandListing> before) = 0;

  /// Records that the run may have changed files at `path` without a record.
  virtual Task<> record_uncovered(const ToolRun& run, std::string path, std::string reason) = 0;

  /// Records the hosts of one command.
  virtual Task<> record_hosts(const ToolRun& run, std::vector<ContactedHost> hosts) = 0;
};

}  // namespace agw
