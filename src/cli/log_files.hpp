#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "io/descriptor.hpp"

namespace agw::cli {

/// The gateway's log: `gateway.log`, and before it `gateway.1.log` to `gateway.5.log`, the oldest last.
class LogFiles {
public:
  using Each = std::function<void(const std::string& line)>;

  /// Throws std::runtime_error where there is no log in the directory.
  explicit LogFiles(std::filesystem::path directory);

  /// Gives `each` the lines there are, the oldest first.
  void read(const Each& each);
  /// Gives it those that come from now on, through rotations too. Ends only by what `each` throws.
  void follow(const Each& each);

private:
  void read_on(const Each& each);
  bool was_rotated() const;
  void open();

  std::filesystem::path directory_;
  std::ifstream current_;
  ino_t inode_ = 0;
  std::string unfinished_;  ///< a line whose end is not written yet
};

}  // namespace agw::cli
