#pragma once

#include <cstdint>
#include <string>

#include "cli/terminal.hpp"

namespace agw::cli {

/// How far long work is, on one line of stderr that is rewritten; nothing where that is no terminal.
class Progress {
public:
  Progress();
  ~Progress();  ///< takes the line away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& what, std::uint64_t done, std::uint64_t total);

private:
  Terminal terminal_;
  std::string shown_;
};

}  // namespace agw::cli
