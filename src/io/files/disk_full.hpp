#pragma once

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace agw {

/// Whether the error means that there is no space, on the disk or in the user's quota.
inline bool is_disk_full(const std::error_code& code) {
  return code == std::errc::no_space_on_device || code.value() == EDQUOT;
}

/// Whether the disk that holds `path` has no space left; false if that is unknown.
inline bool is_on_full_disk(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::space(path, unknown).available == 0 && !unknown;
}

}  // namespace agw
