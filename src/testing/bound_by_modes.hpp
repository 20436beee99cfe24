#pragma once

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace agw::testing {

/// While it exists, file permissions apply to this thread even if the user is root.
class BoundByModes {
public:
  BoundByModes() {
    ::syscall(SYS_capget, &header_, former_.data());
    auto bound = former_;
    bound[0].effective &= ~(1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH);
    ::syscall(SYS_capset, &header_, bound.data());
  }
  ~BoundByModes() { ::syscall(SYS_capset, &header_, former_.data()); }
  BoundByModes(const BoundByModes&) = delete;
  BoundByModes& operator=(const BoundByModes&) = delete;

private:
  __user_cap_header_struct header_{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> former_{};
};

}  // namespace agw::testing
