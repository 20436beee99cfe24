#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "io/files/descriptor.hpp"

namespace agw::cli {

/// The gateway's log: `gateway.log`, and the older `gateway.1.log` to `gateway.5.log`, the oldest last.
class LogFiles {
public:
  using Each = std::function<void(const std::string& line)>;

  /// Throws std::runtime_error if there is no log in the directory.
  explicit LogFiles(std::filesystem::path directory);

  /// Calls `each` for the existing lines, oldest first.
  void read(const Each& each);
  /// Calls `each` for new lines, across rotations. Ends only if `each` throws.
  void follow(const Each& each);

private:
  void read_on(const Each& each);
  bool was_rotated() const;
  void open();

  std::filesystem::path directory_;
  std::ifstream current_;
  ino_t inode_ = 0;
  std::string unfinished_;  ///< an incomplete last line
};

}  // namespace agw::cli
