#include "features/push/delivery.hpp"

#include <algorithm>
#include <utility>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace agw {

namespace {

constexpr int backoff_factor = 6;
constexpr std::chrono::milliseconds min_pause{1000};

bool has_topic(const std::deque<PushNotice>& notices, std::string_view topic) {
  return contains(notices, topic, &PushNotice::topic);
}

}  // namespace

PushDelivery::PushDelivery(Loop& loop, PushSender& sender, Subscriptions subscriptions, Limits limits)
    : loop_(loop), sender_(sender), subscriptions_(std::move(subscriptions)), limits_(limits), group_(loop_) {
  AGW_ASSERT(limits_.waiting > 0);
  AGW_ASSERT(limits_.attempts > 0);
  AGW_ASSERT(limits_.max_pause >= min_pause);
  group_.on_failure(
      [](const std::exception_ptr& failure) { log::error("a notice could not be pushed: {}", message_of(failure)); });
}

void PushDelivery::queue(const std::string& id, PushNotice notice) {
  AGW_ASSERT(!notice.topic.empty());
  if (stopping_) return;
  auto& line = lines_[id];
  const bool is_new = !line;
  if (is_new) line = std::make_shared<Line>(id);
  auto& waiting = line->waiting;
  std::erase_if(waiting, [&](const PushNotice& older) { return older.topic == notice.topic; });
  if (waiting.size() >= limits_.waiting) waiting.pop_front();
  waiting.push_back(std::move(notice));
  AGW_ASSERT(waiting.size() <= limits_.waiting);
  if (is_new) group_.spawn(work(line));
}

void PushDelivery::drop(const std::string& id) {
  const auto found = lines_.find(id);
  if (found == lines_.end()) return;
  const auto line = found->second;
  lines_.erase(found);
  line->stop.request();
}

Task<> PushDelivery::stop() {
  stopping_ = true;
  while (!lines_.empty()) drop(std::string(lines_.begin()->first));
  co_await group_.join();
  AGW_ASSERT(lines_.empty());
}

Task<> PushDelivery::work(LinePointer line) {
  try {
    while (!line->waiting.empty() && !line->stop.requested()) {
      auto notice = std::move(line->waiting.front());
      line->waiting.pop_front();
      co_await deliver(line, std::move(notice));
    }
  } catch (const std::exception& error) {
    log::error("a notice could not be pushed: {}", error.what());
  }
  const auto own = lines_.find(line->id);
  if (own != lines_.end() && own->second == line) lines_.erase(own);
}

Task<> PushDelivery::deliver(LinePointer line, PushNotice notice) {
  std::chrono::milliseconds waited{0};
  for (int attempts = 1;; ++attempts) {
    auto target = subscriptions_.reachable(line->id);
    if (!target) co_return;
    const auto attempt = co_await sender_.send(*std::move(target), notice, line->stop);
    if (line->stop.requested()) co_return;
    co_await subscriptions_.attempted(line->id, attempt);
    if (attempt.end != PushAttempt::End::again || attempts == limits_.attempts) co_return;
    const auto wait = pause_after(attempt, attempts);
    waited += wait;
    if (waited > notice.ttl || co_await pause(line->stop, wait) == WaitResult::stopped) co_return;
    if (has_topic(line->waiting, notice.topic)) co_return;  // a newer notice replaces it
  }
}

std::chrono::milliseconds PushDelivery::pause_after(const PushAttempt& attempt, int attempts) const {
  AGW_ASSERT(attempts >= 1);
  AGW_ASSERT(attempts < limits_.attempts);
  if (attempt.retry_after) return std::clamp(*attempt.retry_after, min_pause, limits_.max_pause);
  auto wait = limits_.first_pause;
  for (int i = 1; i < attempts; ++i) wait *= backoff_factor;
  return std::min(wait, limits_.max_pause);
}

}  // namespace agw
