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

/// The events that one connection receives, and the client's messages that select them:
/// `{"type":"subscribe","threadId":…}`, `unsubscribe`, `ping`. Until the first subscribe it receives the events of
/// every thread.
class Subscription {
public:
  using Time = std::chrono::steady_clock::time_point;
  using Threads = std::set<std::string, std::less<>>;
  /// How many threads a connection may name, and the maximum size of each id, in bytes. More would cost memory, and
  /// time for each message of the client, which is answered with all of them.
  static constexpr std::size_t max_threads = 10'000;
  static constexpr std::size_t max_id_size = 200;
  /// Returns the active runs of the threads (all threads, for a null pointer) as the `runs` of a resume, a JSON array.
  using ActiveRuns = std::function<std::unique_ptr<LongText>(const Threads* threads)>;
  /// JSON: `text`; if there are `runs`, they follow it, and then a closing brace.
  struct Answer {
    std::string text;
    std::unique_ptr<LongText> runs = {};
  };

  explicit Subscription(ActiveRuns active_runs) : active_runs_(std::move(active_runs)) {}

  /// Handles a client's message and returns the answer.
  Answer take(std::string_view message, Time now = std::chrono::steady_clock::now());
  /// The threads of the connection; null for all.
  const Threads* threads() const { return narrowed_ ? &threads_ : nullptr; }

  bool matches(const DomainEvent& event) const;
  /// Whether the person of this connection answers requests of agents on that thread.
  bool answers(std::string_view thread_id) const;

  void add_interests(Interests& interests, Time now) const;

  /// How long a client is considered visible after its last message. A page without network cannot report that it was
  /// hidden.
  static constexpr std::chrono::seconds presence{60};
  /// Whether the client has reported that it is on this device and visible.
  bool is_shown_on(std::string_view device, Time now) const;

private:
  void assert_invariants() const;
  bool is_within_limits(const Threads& added) const;
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
