#pragma once

#include <chrono>

#include "base/async/assert.hpp"

namespace agw {

/// Measures the total time spent waiting for people. Overlapping waits count once.
class WaitClock {
public:
  using Clock = std::chrono::steady_clock;

  /// One wait, during its lifetime.
  class Wait {
  public:
    explicit Wait(WaitClock& clock) : clock_(clock) {
      if (clock_.waits_++ == 0) clock_.since_ = Clock::now();
    }
    ~Wait() {
      AGW_ASSERT(clock_.waits_ > 0);
      if (--clock_.waits_ == 0) clock_.past_ += Clock::now() - clock_.since_;
    }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

  private:
    WaitClock& clock_;
  };

  bool is_waiting() const { return waits_ > 0; }
  /// The total time of all waits until now.
  Clock::duration waited() const { return waits_ > 0 ? past_ + (Clock::now() - since_) : past_; }

private:
  Clock::duration past_{};
  Clock::time_point since_{};
  int waits_ = 0;
};

}  // namespace agw
