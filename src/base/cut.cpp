#include "base/cut.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace agw {

void Stop::request() {
  if (requested_) return;
  requested_ = true;
  auto listeners = std::exchange(listeners_, {});
  for (auto* listener : listeners) listener->listed_ = false;
  for (auto* listener : listeners) listener->action_();
}

Stop::Listener::Listener(Stop& stop, std::function<void()> action) : stop_(stop), action_(std::move(action)) {
  if (stop_.requested_) {
    action_();
    return;
  }
  place_ = stop_.listeners_.insert(stop_.listeners_.end(), this);
  listed_ = true;
}

Stop::Listener::~Listener() {
  if (listed_) stop_.listeners_.erase(place_);
}

namespace {

/// Lives until the leaf, the timer's handler and the awaiting coroutine have all let go of it.
struct Cut {
  explicit Cut(const asio::any_io_executor& executor) : deadline(executor) {}

  void end_by(End why) {
    if (reason || has_ended) return;
    reason = why;
    signal.emit(asio::cancellation_type::terminal);
  }

  /// What the awaiting coroutine gets: the leaf's own failure, unless it is only the cancellation's echo.
  std::pair<std::exception_ptr, End> outcome(std::exception_ptr failure) const {
    if (!reason || !failure) return {failure, End::done};
    try {
      std::rethrow_exception(failure);
    } catch (const boost::system::system_error& error) {
      if (error.code() == asio::error::operation_aborted) return {nullptr, *reason};
    } catch (...) {
      return {failure, End::done};
    }
    return {failure, End::done};
  }

  asio::cancellation_signal signal;
  asio::steady_timer deadline;
  std::optional<Stop::Listener> listener;
  std::optional<End> reason;
  bool has_ended = false;
};

}  // namespace

Task<End> cut(Stop& stop, std::chrono::milliseconds limit, Task<> leaf) {
  if (stop.requested()) co_return End::stopped;
  auto executor = co_await asio::this_coro::executor;
  auto state = std::make_shared<Cut>(executor);

  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr, End)>(
      [&](auto handler) {
        // A cancellation of the awaiting coroutine itself goes to the leaf, which is waited for all the same.
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected()) slot.assign([state](asio::cancellation_type) { state->end_by(End::stopped); });
        asio::co_spawn(executor, std::move(leaf),
                       asio::bind_cancellation_slot(state->signal.slot(), [state, handler = std::move(handler)](
                                                                              std::exception_ptr failure) mutable {
                         state->has_ended = true;
                         state->deadline.cancel();
                         state->listener.reset();
                         auto [error, end] = state->outcome(failure);
                         std::move(handler)(error, end);
                       }));
        if (limit != no_limit) {
          state->deadline.expires_after(limit);
          state->deadline.async_wait([state](boost::system::error_code error) {
            if (!error) state->end_by(End::timed_out);
          });
        }
        state->listener.emplace(stop, [state = state.get()] { state->end_by(End::stopped); });
      },
      asio::use_awaitable);
}

Task<End> pause(Stop& stop, std::chrono::milliseconds duration) {
  auto wait = [](std::chrono::milliseconds time) -> Task<> {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
  };
  co_return co_await cut(stop, no_limit, wait(duration));
}

}  // namespace agw
