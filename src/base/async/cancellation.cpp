#include "base/async/cancellation.hpp"

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

#include "base/async/assert.hpp"

namespace agw {

void StopSource::request() {
  AGW_ASSERT(thread_.is_current());

  if (requested_) return;
  requested_ = true;
  auto listeners = std::exchange(listeners_, {});
  for (auto* listener : listeners) listener->listed_ = false;
  for (auto* listener : listeners) listener->action_();
  // Actions may add listeners, but these are called at once.
  AGW_ASSERT(listeners_.empty());
}

StopSource::Listener::Listener(StopSource& stop, std::function<void()> action)
    : stop_(stop), action_(std::move(action)) {
  AGW_ASSERT(action_);
  if (stop_.requested_) {
    action_();
    return;
  }
  place_ = stop_.listeners_.insert(stop_.listeners_.end(), this);
  listed_ = true;
}

StopSource::Listener::~Listener() {
  if (!listed_) return;
  AGW_ASSERT(!stop_.requested_);
  AGW_ASSERT(*place_ == this);
  stop_.listeners_.erase(place_);
}

namespace {

/// A longer time would overflow the timer's clock; `no_limit` sets none.
constexpr std::chrono::milliseconds max_limit = std::chrono::years(100);

/// Shared by the leaf, the timer's handler and the awaiting coroutine; lives until all of them have released it.
struct TimeoutState {
  explicit TimeoutState(const asio::any_io_executor& executor) : deadline(executor) {}

  void end_by(WaitResult why) {
    AGW_ASSERT(why != WaitResult::done);
    if (reason || has_ended) return;
    reason = why;
    signal.emit(asio::cancellation_type::terminal);
  }

  /// The result for the awaiting coroutine: the leaf's own failure, unless the cancellation caused it.
  std::pair<std::exception_ptr, WaitResult> outcome(std::exception_ptr failure) const {
    AGW_ASSERT(has_ended);
    if (!reason || !failure) return {failure, WaitResult::done};
    try {
      std::rethrow_exception(failure);
    } catch (const boost::system::system_error& error) {
      if (error.code() == asio::error::operation_aborted) return {nullptr, *reason};
    } catch (...) {
      return {failure, WaitResult::done};
    }
    return {failure, WaitResult::done};
  }

  asio::cancellation_signal signal;
  asio::steady_timer deadline;
  std::optional<StopSource::Listener> listener;
  std::optional<WaitResult> reason;
  bool has_ended = false;
};

}  // namespace

Task<WaitResult> with_timeout(StopSource& stop, std::chrono::milliseconds limit, Task<> leaf) {
  AGW_DEBUG_ASSERT(limit <= max_limit || limit == no_limit);

  if (stop.requested()) co_return WaitResult::stopped;
  auto executor = co_await asio::this_coro::executor;
  auto state = std::make_shared<TimeoutState>(executor);

  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr, WaitResult)>(
      [&](auto handler) {
        // Passes a cancellation of the awaiting coroutine on to the leaf; the coroutine still waits for the leaf to
        // end.
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected()) slot.assign([state](asio::cancellation_type) { state->end_by(WaitResult::stopped); });
        asio::co_spawn(executor, std::move(leaf),
                       asio::bind_cancellation_slot(state->signal.slot(), [state, handler = std::move(handler)](
                                                                              std::exception_ptr failure) mutable {
                         AGW_ASSERT(!state->has_ended);
                         AGW_DEBUG_ASSERT(state->listener);
                         state->has_ended = true;
                         state->deadline.cancel();
                         state->listener.reset();
                         auto [error, end] = state->outcome(failure);
                         std::move(handler)(error, end);
                       }));
        if (limit != no_limit) {
          state->deadline.expires_after(limit);
          state->deadline.async_wait([state](boost::system::error_code error) {
            if (!error) state->end_by(WaitResult::timed_out);
          });
        }
        state->listener.emplace(stop, [state = state.get()] { state->end_by(WaitResult::stopped); });
      },
      asio::use_awaitable);
}

Task<> until_requested(StopSource& stop) {
  const auto forever = []() -> Task<> {
    asio::steady_timer never(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    co_await never.async_wait(asio::use_awaitable);
  };
  co_await with_timeout(stop, no_limit, forever());
}

Task<WaitResult> pause(StopSource& stop, std::chrono::milliseconds duration) {
  AGW_DEBUG_ASSERT(duration <= max_limit);

  auto wait = [](std::chrono::milliseconds time) -> Task<> {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
  };
  co_return co_await with_timeout(stop, no_limit, wait(duration));
}

}  // namespace agw
