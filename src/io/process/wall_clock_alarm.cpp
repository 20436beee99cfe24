#include "io/process/wall_clock_alarm.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

namespace {

int make_timer() {
  const int timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (timer < 0) throw_errno("cannot make a timer");
  return timer;
}

/// Zero would disarm the timer, so times up to the epoch become one nanosecond after it.
itimerspec expiry(std::optional<Timestamp> time) {
  itimerspec spec{};
  if (!time) return spec;
  const auto since_epoch = time->time_since_epoch();
  if (since_epoch <= std::chrono::milliseconds::zero()) {
    spec.it_value.tv_nsec = 1;
    return spec;
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = std::chrono::nanoseconds(since_epoch - seconds).count();
  AGW_ASSERT(spec.it_value.tv_nsec >= 0);
  AGW_ASSERT(spec.it_value.tv_nsec < 1'000'000'000);
  AGW_ASSERT(spec.it_value.tv_sec > 0 || spec.it_value.tv_nsec > 0);
  return spec;
}

}  // namespace

WallClockAlarm::WallClockAlarm(Loop& loop) : timer_(loop, make_timer()) {}

void WallClockAlarm::set(std::optional<Timestamp> time) {
  AGW_ASSERT(thread_.is_current());

  time_ = time;
  const auto spec = expiry(time);
  constexpr int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
  // ECANCELED reports that the clock was set since the last call; the timer is armed anyway.
  if (timerfd_settime(timer_.native_handle(), flags, &spec, nullptr) != 0 && errno != ECANCELED) {
    throw_errno("cannot set a timer");
  }
}

Task<WaitResult> WallClockAlarm::wait(StopSource& stop) {
  AGW_ASSERT(thread_.is_current());

  const auto readable = [](asio::posix::stream_descriptor& timer) -> Task<> {
    co_await timer.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  };
  for (;;) {
    const auto end = co_await with_timeout(stop, no_limit, readable(timer_));
    if (end != WaitResult::done) co_return end;
    std::uint64_t expirations = 0;
    const auto bytes = ::read(timer_.native_handle(), &expirations, sizeof expirations);
    // Nothing to read: the timer was set to a later time just after it expired.
    if (bytes >= 0 || errno != EAGAIN) co_return WaitResult::done;
  }
}

}  // namespace agw
