#pragma once

#include <cerrno>
#include <system_error>

namespace agw {

/// Whether the error means that there is no space, on the disk or in the user's quota.
inline bool is_disk_full(const std::error_code& code) {
  return code == std::errc::no_space_on_device || code.value() == EDQUOT;
}

}  // namespace agw
