#pragma once

#include <functional>
#include <list>
#include <set>
#include <string>
#include <string_view>

#include "base/async/pending_effects.hpp"
#include "features/events/domain_event.hpp"

namespace agw {

/// The presence of people, as far as other nodes must know it.
struct Interests {
  bool answers_all = false;       ///< somebody answers what agents ask on every thread
  std::set<std::string> answers;  ///< the threads, if not
  std::set<std::string> devices;  ///< events are shown to a person on these
  friend bool operator==(const Interests&, const Interests&) = default;
};

/// Receives every event, on the loop, in the order of publishing.
class Subscriber {
public:
  virtual ~Subscriber() = default;
  /// Must not block, throw, or end the subscription of another. Work that must be on disk before the request that
  /// caused the event is answered is registered with the hub's `pending_effects`.
  virtual void deliver(const DomainEvent& event) = 0;
  /// Whether it uses events whose names begin with `names` (`proposal.`). Publishers ask where the record is expensive.
  virtual bool awaits(std::string_view /*names*/) const { return false; }
  /// Whether it shows events to a person who looks at this device.
  virtual bool is_shown_on(std::string_view /*device*/) const { return false; }
  /// Whether it is the client of a person who follows that thread and answers its agent's requests.
  virtual bool answers(std::string_view /*thread_id*/) const { return false; }
  /// Adds what its person looks at, for other nodes.
  virtual void add_interests(Interests& /*interests*/) const {}
};

/// Delivers the events of each room to later rooms and to clients.
/// Example: src/features/events/hub_test.cpp: Hub.SerialisesAnEventOnceForAllClients
class Hub {
public:
  /// Adds a subscriber for as long as the returned handle lives.
  class Listening {
  public:
    Listening(Hub& hub, Subscriber& subscriber);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

  private:
    Hub& hub_;
    std::list<Subscriber*>::iterator place_;
  };

  void publish(const DomainEvent& event);

  /// Whether a subscriber awaits such events.
  bool awaited(std::string_view names) const;
  /// Whether a subscriber answers for the thread.
  bool is_answered(std::string_view thread_id) const;

  /// Whether a subscriber shows events to a person who looks at this device.
  bool is_shown_on(std::string_view device) const;

  /// The presence of the people whose clients subscribe.
  Interests interests() const;
  /// A subscriber's person looks at something else now.
  void interests_changed() const {
    if (on_interests_) on_interests_();
  }
  /// Called whenever `interests` may have changed.
  void on_interests(std::function<void()> action) { on_interests_ = std::move(action); }

  /// The work that events have caused and that requests wait for.
  PendingEffects& pending_effects() { return pending_effects_; }

private:
  std::list<Subscriber*> subscribers_;
  PendingEffects pending_effects_;
  std::function<void()> on_interests_;
};

}  // namespace agw
