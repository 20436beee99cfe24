#pragma once

#include <cerrno>
#include <exception>
#include <system_error>

namespace agw {

/// Whether there is no room: on the disk, or in the user's share of it.
inline bool is_disk_full(const std::error_code& code) {
  return code == std::errc::no_space_on_device || code.value() == EDQUOT;
}

/// Whether it is an error of the system that says so.
inline bool is_disk_full(const std::exception& error) {
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  return system && is_disk_full(system->code());
}

}  // namespace agw
