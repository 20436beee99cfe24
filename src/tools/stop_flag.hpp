#pragma once

#include <atomic>
#include <memory>

#include "base/async/cancellation.hpp"

namespace agw {

/// Whether work on another thread should end, because a stop was requested on the loop.
using StopFlag = std::shared_ptr<const std::atomic<bool>>;

/// Forwards a stop request to other threads while it exists.
class CrossThreadStop {
public:
  explicit CrossThreadStop(StopSource& stop)
      : flag_(std::make_shared<std::atomic<bool>>(false)), listener_(stop, [flag = flag_] { flag->store(true); }) {}

  StopFlag flag() const { return flag_; }

private:
  std::shared_ptr<std::atomic<bool>> flag_;
  StopSource::Listener listener_;
};

}  // namespace agw
