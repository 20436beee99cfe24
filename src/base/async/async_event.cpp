#include "base/async/async_event.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include "base/async/assert.hpp"

namespace agw {

AsyncEvent::AsyncEvent(Loop& loop) : timer_(loop, std::chrono::steady_clock::time_point::max()) {}

void AsyncEvent::notify() {
  AGW_ASSERT(thread_.is_current());

  happened_ = true;
  timer_.cancel();
}

void AsyncEvent::pulse() {
  AGW_ASSERT(thread_.is_current());

  ++pulses_;
  timer_.cancel();
}

Task<> AsyncEvent::wait() {
  AGW_ASSERT(thread_.is_current());

  const auto before = pulses_;
  while (!happened_ && pulses_ == before) {
    boost::system::error_code woken;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    if ((co_await asio::this_coro::cancellation_state).cancelled() != asio::cancellation_type::none) {
      throw boost::system::system_error(asio::error::operation_aborted);
    }
  }
}

}  // namespace agw
