#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace agw {

/// What a sandbox's file system is made of, as bubblewrap's arguments. What lies deeper is laid over what lies above
/// it; at the same place, what came later.
class SandboxMounts {
public:
  void show(const std::filesystem::path& path, bool writable);
  void empty_directory(const std::filesystem::path& path, std::int64_t megabytes);
  void hide_directory(const std::filesystem::path& path);
  void hide_file(const std::filesystem::path& path);

  std::size_t size() const { return mounts_.size(); }

  /// First the system's own, then all of the above in the right order. `scratch_megabytes` is the size of each of /tmp,
  /// /run, /var/tmp and /dev/shm, which are in memory.
  std::vector<std::string> arguments(std::int64_t scratch_megabytes) const;

private:
  struct Mount {
    std::size_t depth;
    std::vector<std::string> arguments;
  };
  void add(const std::filesystem::path& path, std::vector<std::string> arguments);

  std::vector<Mount> mounts_;
};

}  // namespace agw
