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

/// Empty directories and meaningless files at guarded paths that do not exist, so that commands cannot create them.
/// Removed with the last command that needs them. Thread-safe. Blocks.
class SandboxPlaceholders {
public:
  /// Records its placeholders in `data_directory`, so that the next start can remove them after a kill.
  explicit SandboxPlaceholders(std::filesystem::path data_directory) : data_directory_(std::move(data_directory)) {}

  /// Creates a placeholder unless something else exists: a file if there is `content`, else a directory with `mode`.
  /// Returns true if the path is a placeholder.
  bool hold(const std::filesystem::path& path, std::string_view content = {}, mode_t mode = 0755);
  void release(const std::vector<std::filesystem::path>& paths);

  /// Identifies a placeholder, and shows whether it was modified.
  struct PlaceholderIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const PlaceholderIdentity&) const = default;
  };

private:
  struct PlaceholderUse {
    int count = 0;
    PlaceholderIdentity made;
  };
  void note();

  const std::filesystem::path data_directory_;
  std::mutex mutex_;
  std::map<std::filesystem::path, PlaceholderUse> held_;
  std::size_t noted_ = 0;  ///< bytes
};

/// Removes unchanged placeholders recorded by a killed gateway. Call it before the first command. Returns their number.
std::size_t remove_stale_placeholders(const std::filesystem::path& data_directory);

}  // namespace agw
