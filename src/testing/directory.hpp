#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include <stdlib.h>

namespace agw::testing {

/// An empty directory (mode 0700) for one test, gone with everything in it afterwards.
class Directory {
public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "agw-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a directory like " + name);
    path_ = name;
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

}  // namespace agw::testing
