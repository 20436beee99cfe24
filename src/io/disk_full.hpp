#pragma once

#include <cerrno>
#include <system_error>

namespace agw {

/// Whether it failed for want of space: the disk's, or the user's share of it.
inline bool is_disk_full(const std::system_error& error) {
  return error.code() == std::errc::no_space_on_device || error.code().value() == EDQUOT;
}

}  // namespace agw
