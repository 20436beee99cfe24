#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "base/text/long_text.hpp"
#include "features/events/domain_event.hpp"
#include "features/events/hub.hpp"
#include "features/events/types.hpp"

namespace agw {

/// Which events one connection matches, and the messages by which it says so: `{"type":"subscribe","threadId":…}`,
/// `unsubscribe`, `ping`. Until the first subscribe it gets the events of every thread.
class Subscription {
public:
  using Time = std::chrono::steady_clock::time_point;
  using Threads = std::set<std::string, std::less<>>;
  /// Gives what is under way on the threads (all, for an empty pointer) as the `runs` of a resume, a JSON array.
  using ActiveRuns = std::function<std::unique_ptr<LongText>(const Threads* threads)>;
  /// JSON: `text`, and if there are `runs`, they and then a brace.
  struct Answer {
    std::string text;
    std::unique_ptr<LongText> runs = {};
  };

  explicit Subscription(ActiveRuns active_runs) : active_runs_(std::move(active_runs)) {}

  /// Takes a client's message and returns the answer to it.
  Answer take(std::string_view message, Time now = std::chrono::steady_clock::now());
  /// The threads of the connection; null for all.
  const Threads* threads() const { return narrowed_ ? &threads_ : nullptr; }

  bool matches(const DomainEvent& event) const;
  /// Whether it is the connection of a person who answers requests of agents on that thread.
  bool answers(std::string_view thread_id) const;

  void add_interests(Interests& interests, Time now) const;

  /// How long a client counts as visible after its last message: a page that has lost its network cannot say that it
  /// was left.
  static constexpr std::chrono::seconds presence{60};
  /// Whether the client said that it is on this device and that a person sees it.
  bool is_shown_on(std::string_view device, Time now) const;

private:
  void subscribe(const SubscriptionMessage& wanted);
  void record_presence(const SubscriptionMessage& wanted);
  void unsubscribe(const SubscriptionMessage& wanted);
  Answer current_set(bool with_runs) const;

  ActiveRuns active_runs_;
  Threads threads_;
  bool narrowed_ = false;
  bool lists_ = false;
  std::string device_;
  bool visible_ = false;
  Time heard_at_{};
  bool approvals_ = false;
};

}  // namespace agw
