#include "storage/change_follower.hpp"

#include <chrono>
#include <utility>

#include "base/containers.hpp"
#include "base/log.hpp"

namespace agw {

using namespace std::chrono_literals;

ChangeFollower::ChangeFollower(Loop& loop) : group_(loop) {}

void ChangeFollower::follow(std::string topic, Refresh refresh) {
  AGW_ASSERT(refresh);
  AGW_ASSERT(!refreshers_.contains(topic));
  refreshers_.emplace(std::move(topic), std::move(refresh));
}

void ChangeFollower::take(std::vector<RecordChange> changes) {
  AGW_ASSERT(checker_.is_current());
  if (stopping_.requested()) return;
  AGW_ASSERT(is_working_ || waiting_.empty());
  append(waiting_, std::move(changes));
  if (!std::exchange(is_working_, true)) group_.spawn(work());
}

Task<> ChangeFollower::stop() {
  stopping_.request();
  co_await group_.join();
}

Task<> ChangeFollower::work() {
  AGW_ASSERT(is_working_);
  while (!waiting_.empty() && !stopping_.requested()) {
    std::map<std::string, std::vector<std::string>> keys;
    for (auto& change : std::exchange(waiting_, {})) {
      auto& of_topic = keys[change.topic];
      if (!contains(of_topic, change.key)) of_topic.push_back(std::move(change.key));
    }
    for (const auto& [topic, of_topic] : keys) {
      AGW_ASSERT(!of_topic.empty());
      const auto refresher = refreshers_.find(topic);
      if (refresher == refreshers_.end()) continue;
      bool failed = false;
      try {
        co_await refresher->second(of_topic);
      } catch (const std::exception& error) {
        log::warn("what another node has changed is not seen here yet ({}): {}", topic, error.what());
        failed = true;
      }
      if (!failed) continue;
      for (const auto& key : of_topic) waiting_.push_back({topic, key});
      co_await pause(stopping_, 1s);
    }
  }
  AGW_ASSERT(is_working_);
  is_working_ = false;
}

}  // namespace agw
