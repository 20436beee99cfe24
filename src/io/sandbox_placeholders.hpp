#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

namespace agw {

/// Empty directories in the place of guarded ones that are not there, so that they cannot be made either, and files
/// that mean nothing in the place of guarded files. They go away again with the last command that needed them. Can be
/// used from any thread. Blocks.
class SandboxPlaceholders {
public:
  /// Those that are held are noted in `data_directory`, for the start after a kill.
  explicit SandboxPlaceholders(std::filesystem::path data_directory) : data_directory_(std::move(data_directory)) {}

  /// Makes it, a file where there is `content`, else a directory of `mode`, unless something else is there; true where
  /// it is a placeholder.
  bool hold(const std::filesystem::path& path, std::string_view content = {}, mode_t mode = 0755);
  void release(const std::vector<std::filesystem::path>& paths);

  /// Which directory or file a placeholder is, and that nobody has written to it since.
  struct Made {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const Made&) const = default;
  };

private:
  struct Held {
    int count = 0;
    Made made;
  };
  void note();

  const std::filesystem::path data_directory_;
  std::mutex mutex_;
  std::map<std::filesystem::path, Held> held_;
  std::size_t noted_ = 0;  ///< bytes
};

/// Before the first command: removes what a gateway that was killed has noted and left, where it is still as it was
/// made. Answers how many.
std::size_t sweep_placeholders(const std::filesystem::path& data_directory);

}  // namespace agw
