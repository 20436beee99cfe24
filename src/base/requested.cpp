#include "base/requested.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace agw {

Task<> requested(Stop& stop) {
  const auto for_ever = []() -> Task<> {
    asio::steady_timer never(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    co_await never.async_wait(asio::use_awaitable);
  };
  co_await cut(stop, no_limit, for_ever());
}

}  // namespace agw
