#pragma once

#include <cerrno>
#include <exception>
#include <system_error>

namespace agw {

/// Whether the error means that there is no space, on the disk or in the user's quota.
inline bool is_disk_full(const std::error_code& code) {
  return code == std::errc::no_space_on_device || code.value() == EDQUOT;
}

/// Whether the exception is a system error for that reason.
inline bool is_disk_full(const std::exception& error) {
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  return system && is_disk_full(system->code());
}

}  // namespace agw
