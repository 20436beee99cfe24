#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace agw {

/// Arguments of bubblewrap, in the order in which it processes them.
using SandboxArguments = std::vector<std::string>;

/// The mounts of a sandbox's file system as bubblewrap's arguments. Deeper mounts cover those above them; for the same
/// path, later ones cover earlier ones.
class SandboxMounts {
public:
  void show_writable(const std::filesystem::path& path);
  void show_read_only(const std::filesystem::path& path);
  void empty_directory(const std::filesystem::path& path, std::int64_t megabytes);
  void hide_directory(const std::filesystem::path& path);
  void hide_file(const std::filesystem::path& path);
  /// Adds a read-only file with the content of `descriptor`, which bubblewrap inherits.
  void show_content(const std::filesystem::path& path, int descriptor);

  std::size_t size() const { return mounts_.size(); }

  /// The system's mounts, followed by those added above in the required order. `scratch_megabytes` is the size of each
  /// of /tmp, /run, /var/tmp and /dev/shm, which are in memory.
  SandboxArguments arguments(std::int64_t scratch_megabytes) const;

private:
  struct Mount {
    std::size_t depth;
    SandboxArguments arguments;
  };
  void add(const std::filesystem::path& path, SandboxArguments arguments);

  std::vector<Mount> mounts_;
};

}  // namespace agw
