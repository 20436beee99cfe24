#pragma once

#include <atomic>
#include <memory>

#include "base/cut.hpp"

namespace agw {

/// Whether work on another thread should end, because a Stop was requested on the loop.
using StopFlag = std::shared_ptr<const std::atomic<bool>>;

/// Carries a Stop over to other threads, as long as it lives.
class StopBridge {
public:
  explicit StopBridge(Stop& stop)
      : flag_(std::make_shared<std::atomic<bool>>(false)), listener_(stop, [flag = flag_] { flag->store(true); }) {}

  StopFlag flag() const { return flag_; }

private:
  std::shared_ptr<std::atomic<bool>> flag_;
  Stop::Listener listener_;
};

}  // namespace agw
