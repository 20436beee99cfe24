#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace agw::testing {

/// An empty directory (mode 0700) for one test; removed with its contents.
class ScratchDirectory {
public:
  ScratchDirectory() {
    auto pattern = (std::filesystem::temp_directory_path() / "agw-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("cannot make a scratch directory " + pattern);
    path_ = std::filesystem::canonical(pattern);
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

}  // namespace agw::testing
