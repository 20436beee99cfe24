#pragma once

#include <functional>
#include <list>
#include <set>
#include <string>
#include <string_view>

#include "base/async/pending_effects.hpp"
#include "features/events/domain_event.hpp"

namespace agw {

/// The facts about the presence of people that other nodes need.
struct Interests {
  bool answers_all = false;       ///< a person answers agents' requests on every thread
  std::set<std::string> answers;  ///< the threads whose requests a person answers, unless `answers_all`
  std::set<std::string> devices;  ///< devices on which a person sees events
  friend bool operator==(const Interests&, const Interests&) = default;
};

/// Receives every event, on the loop, in the order of publishing.
class Subscriber {
public:
  virtual ~Subscriber() = default;
  /// Must not block, throw, or end another subscription. Work that must be on disk before the response to the request
  /// that caused the event is registered with the hub's `pending_effects`.
  virtual void deliver(const DomainEvent& event) = 0;
  /// Whether it uses events whose names begin with `names` (`proposal.`). Publishers check this if the record is
  /// expensive.
  virtual bool awaits(std::string_view /*names*/) const { return false; }
  /// Whether it shows events to a person on this device.
  virtual bool is_shown_on(std::string_view /*device*/) const { return false; }
  /// Whether it is a client whose person follows that thread and answers its agent's requests.
  virtual bool answers(std::string_view /*thread_id*/) const { return false; }
  /// Adds the interests of its person, for other nodes.
  virtual void add_interests(Interests& /*interests*/) const {}
};

/// Delivers the events of each room to later rooms and to clients.
/// Example: src/features/events/hub_test.cpp: Hub.SerialisesAnEventOnceForAllClients
class Hub {
public:
  /// Adds a subscriber while this object exists.
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

  /// Whether a subscriber uses such events.
  bool awaited(std::string_view names) const;
  /// Whether a subscriber answers for the thread.
  bool is_answered(std::string_view thread_id) const;

  /// Whether a subscriber shows events to a person on this device.
  bool is_shown_on(std::string_view device) const;

  /// The presence of the people whose clients subscribe.
  Interests interests() const;
  /// Called by a subscriber whose interests have changed.
  void interests_changed() const {
    if (on_interests_) on_interests_();
  }
  /// Sets a function to call whenever `interests` may have changed.
  void on_interests(std::function<void()> action) { on_interests_ = std::move(action); }

  /// The work that events have caused and for which requests wait.
  PendingEffects& pending_effects() { return pending_effects_; }

private:
  std::list<Subscriber*> subscribers_;
  PendingEffects pending_effects_;
  std::function<void()> on_interests_;
};

}  // namespace agw
