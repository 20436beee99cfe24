#pragma once

#include <cstdint>
#include <string>

#include "cli/output/terminal.hpp"

namespace agw::cli {

/// Shows the progress of long work on one line of stderr; silent if that is not a terminal.
class Progress {
public:
  Progress();
  ~Progress();  ///< clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows a bar with the share done, or just `done` if `total` is 0 (unknown).
  void show(const std::string& what, std::uint64_t done, std::uint64_t total);

private:
  Terminal terminal_;
  std::string shown_;
};

}  // namespace agw::cli
