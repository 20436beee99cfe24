#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "features/events/domain_event.hpp"
#include "features/events/types.hpp"

namespace agw {

/// Which events one connection wants, and the messages by which it says so: `{"type":"subscribe","threadId":…}`,
/// `unsubscribe`, `ping`. Until the first subscribe it gets the events of every thread.
class Subscription {
public:
  using Threads = std::set<std::string, std::less<>>;
  /// Gives what is under way on the threads (all, for an empty pointer) as the `runs` of a resume.
  using ActiveRuns = std::function<json::array(const Threads* threads)>;

  explicit Subscription(ActiveRuns active_runs) : active_runs_(std::move(active_runs)) {}

  /// Takes a client's message and returns the answer to it, as JSON.
  std::string take(std::string_view message);

  bool wants(const DomainEvent& event) const;

private:
  void subscribe(const SubscriptionMessage& wanted);
  void unsubscribe(const SubscriptionMessage& wanted);
  std::string current_set(bool with_runs) const;

  ActiveRuns active_runs_;
  Threads threads_;
  bool narrowed_ = false;
  bool lists_ = false;
};

}  // namespace agw
