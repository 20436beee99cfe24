#include "storage/postgres/link.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/async/assert.hpp"

namespace agw::postgres {

namespace {

using namespace std::chrono_literals;

constexpr auto usual_patience = 10s;
constexpr auto stop_patience = 1s;
constexpr auto time_to_connect = 4s;
constexpr auto max_retry_pause = 500ms;
static_assert(stop_patience < usual_patience);
static_assert(time_to_connect < usual_patience);  // there is time for a second attempt
static_assert(max_retry_pause < stop_patience);

}  // namespace

std::chrono::milliseconds Stop::patience() const { return is_hurried_ ? stop_patience : usual_patience; }

void Stop::give_up_at(Session::Clock::time_point deadline) {
  {
    const std::lock_guard lock(mutex_);
    deadline_ = deadline;
  }
  changed_.notify_all();
}

bool Stop::wait(std::chrono::milliseconds duration) {
  AGW_ASSERT(duration.count() >= 0);
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, duration, [this] { return has_passed(); });
}

bool Stop::has_timed_out() const {
  const auto since = away_since_.load();
  return is_hurried_ && since != reachable && Session::Clock::now() - since >= stop_patience;
}

Session::Clock::time_point Stop::missed() {
  auto since = reachable;
  const auto now = Session::Clock::now();

  return away_since_.compare_exchange_strong(since, now) ? now : since;
}

Connection& Link::connection() {
  if (!connection_) connect_again();
  AGW_ASSERT(session_);
  return *connection_;
}

Session& Link::session() {
  if (!connection_) connect_again();
  AGW_ASSERT(session_);
  return *session_;
}

void Link::connect(Session::Clock::time_point deadline) {
  AGW_ASSERT(!connection_);
  AGW_ASSERT(!session_);
  auto session = std::make_unique<Session>(address_, deadline, stop_.deadline());
  auto* const made = session.get();
  auto connection = std::make_unique<Connection>(std::move(session));
  if (owner_) owner_->lock_again(*connection);
  made->fence_with(fence());
  session_ = made;
  connection_ = std::move(connection);
}

void Link::connect_as(Owner owner) {
  AGW_ASSERT(!owner_);
  AGW_ASSERT(connection_);
  owner_ = std::move(owner);
  session_->fence_with(fence());
}

void Link::drop() {
  connection_.reset();
  session_ = nullptr;
}

void Link::connect_again() {
  if (stop_.has_timed_out()) throw ConnectionLost(fmt::format("cannot reach the {}", address_.name));
  AGW_ASSERT(!connection_);
  const auto began = Session::Clock::now();
  for (auto pause = 20ms;; pause = std::min<std::chrono::milliseconds>(2 * pause, max_retry_pause)) {
    try {
      connect(Session::Clock::now() + time_to_connect);
      return stop_.reached();
    } catch (const ConnectionLost& error) {
      const auto give_up_at = std::min(began, stop_.missed()) + stop_.patience();
      if (Session::Clock::now() < give_up_at && !stop_.wait(pause)) continue;
      throw ConnectionLost(fmt::format("cannot reach the {}: {}", address_.name, error.what()));
    }
  }
}

}  // namespace agw::postgres
