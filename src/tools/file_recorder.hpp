#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "io/files/entry_state.hpp"
#include "tools/tool.hpp"

namespace agw {

/// A file that a tool is about to replace or create.
struct PlannedWrite {
  std::filesystem::path path;
  std::shared_ptr<const EntryState> before;
  std::shared_ptr<const EntryState> after;
  std::vector<std::filesystem::path> new_directories;  ///< that it creates, the uppermost first
};

/// The directories that a command can write, as they were before it.
class CommandListing {
public:
  CommandListing() = default;
  virtual ~CommandListing() = default;
  CommandListing(const CommandListing&) = delete;
  CommandListing& operator=(const CommandListing&) = delete;
};

/// A host that a command reached, or was refused.
struct ContactedHost {
  std::string host;
  int port = 0;
  bool allowed = false;
  std::string reason;  ///< why not; else empty
  std::int64_t connections = 0;
};

/// Records what calls change in files, so that it can be undone, and which hosts they reach. On the loop.
class FileRecorder {
public:
  FileRecorder() = default;
  virtual ~FileRecorder() = default;
  FileRecorder(const FileRecorder&) = delete;
  FileRecorder& operator=(const FileRecorder&) = delete;

  /// The size of the largest content that is kept, in bytes.
  virtual std::size_t max_file_size() const = 0;

  /// Before a tool renames: stores the former content and the change; both are on disk when this returns. Throws
  /// ApiError if they cannot be stored: then nothing may be written.
  virtual Task<> before_write(const ToolRun& run, PlannedWrite write) = 0;
  /// After it: stores the new content as well, which the file does not wait for.
  virtual Task<> after_write(std::shared_ptr<const EntryState> after) = 0;

  /// Before a command that can write these directories: stores what it could overwrite. Throws ApiError if there is no
  /// space: then it may not run.
  virtual Task<std::shared_ptr<CommandListing>> before_command(const ToolRun& run,
                                                               std::vector<std::filesystem::path> writable) = 0;
  /// After it has ended: records what changed in the meantime.
  virtual Task<> after_command(const ToolRun& run, std::shared_ptr<CommandListing> before) = 0;

  /// Names what a run may have changed without a record. `path`: of the files.
  virtual Task<> record_uncovered(const ToolRun& run, std::string path, std::string reason) = 0;

  /// The hosts of one command.
  virtual Task<> record_hosts(const ToolRun& run, std::vector<ContactedHost> hosts) = 0;
};

}  // namespace agw
