#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "base/cut.hpp"

namespace agw {

/// Lets one through at a time, on the loop.
///
///     co_await turnstile.wait();
///     const auto pass = turnstile.enter();
class Turnstile {
public:
  /// Requests what others wait for when it goes.
  class Pass {
  public:
    explicit Pass(std::shared_ptr<Stop>& place) : place_(place) { place_ = std::make_shared<Stop>(); }
    ~Pass() { std::exchange(place_, nullptr)->request(); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

  private:
    std::shared_ptr<Stop>& place_;
  };

  /// Until nobody is within. Whoever waits enters before it waits for anything else.
  Task<> wait() {
    while (within_) {
      const auto current = within_;
      co_await pause(*current, std::chrono::hours(1));
    }
  }
  Pass enter() { return Pass(within_); }

private:
  std::shared_ptr<Stop> within_;
};

}  // namespace agw
