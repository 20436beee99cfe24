#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "base/async/task.hpp"
#include "io/files/entry_state.hpp"
#include "tools/tool.hpp"

namespace agw {

/// A file that a tool is about to replace or create.
struct PlannedWrite {
  std::filesystem::path path;
  EntryState before;
  EntryState after;
  std::vector<std::filesystem::path> new_directories;  ///< that it creates, the uppermost first
};

/// Records what calls change in files, so that it can be undone. On the loop.
class FileRecorder {
public:
  FileRecorder() = default;
  virtual ~FileRecorder() = default;
  FileRecorder(const FileRecorder&) = delete;
  FileRecorder& operator=(const FileRecorder&) = delete;

  /// The size of the largest content that is kept, in bytes.
  virtual std::size_t largest_file() const = 0;

  /// Before a tool renames: stores the former content and the change; both are on disk when this returns. Throws
  /// ApiError if they cannot be stored: then nothing may be written.
  virtual Task<> before_write(const ToolRun& run, PlannedWrite write) = 0;
};

}  // namespace agw
