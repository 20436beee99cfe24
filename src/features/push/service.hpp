#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "features/access/service.hpp"
#include "features/events/hub.hpp"
#include "features/push/delivery.hpp"
#include "features/push/sender.hpp"
#include "features/push/types.hpp"
#include "features/push/vapid_key.hpp"
#include "storage/connection.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

struct Route;
struct Settings;
class Database;

/// Notifies browsers with closed pages of events, through their push services (Web Push).
class Push : private Subscriber {
public:
  static constexpr std::size_t max_subscriptions = 100;

  struct Services {
    Database& database;
    Hub& hub;
    const Clock& clock;
    BlockingPool& blocking;
    const Secrets& secrets;
    HttpClient& http;
    const Access& access;
  };
  struct Options {
    std::string contact{};      ///< a URL, for the operators of push services
    std::string test_origin{};  ///< of a push service of tests, which may be private and unencrypted
    PushDelivery::Limits limits{};
  };

  Push(Loop& loop, const Services& services, Options options);

  /// Reads the subscriptions at startup. Removes those that were made with another token.
  void load(Connection& connection);
  Task<> stop();

  /// Reads the subscriptions again, because another node has changed them.
  Task<> refresh();

  Task<PushKey> key();
  /// Oldest first.
  std::vector<PushSubscription> list() const;
  /// Adds a subscription, or replaces the one with the same endpoint or device. Throws BadRequest for an invalid one,
  /// and Conflict if there are too many.
  Task<PushSubscription> subscribe(NewPushSubscription wanted, InTransaction<PushSubscription> in_transaction);
  /// Throws NotFound `push subscription not found`.
  Task<> unsubscribe(std::string id);
  /// Sends a notice now, even if the page is visible. Throws NotFound like `unsubscribe`.
  Task<PushTest> test(std::string id);

private:
  struct Latest {
    std::optional<Timestamp> sent_at;
    std::optional<std::string> error;
  };

  void deliver(const DomainEvent& event) override;
  bool awaits(std::string_view names) const override;
  void forget_all();
  Task<> remove_other_tokens(std::string token_id);
  PushTarget target_of(NewPushSubscription wanted, std::string gateway_key) const;
  const PushTarget* find(std::string_view id) const;
  const PushTarget& require(std::string_view id) const;
  PushSubscription shown(const PushTarget& target) const;
  std::optional<PushTarget> reachable(const std::string& id) const;
  Task<> attempted(std::string id, PushAttempt attempt);
  Task<> remove(std::string id);
  void replace(std::vector<PushTarget> targets);

  Services services_;
  VapidKey key_;
  PushSender sender_;
  std::vector<PushTarget> targets_;
  std::map<std::string, Latest, std::less<>> latest_;
  StopSource stopping_;
  PushDelivery delivery_;
  TaskGroup background_;
  Hub::Listening listening_;
};

/// `/push`.
std::vector<Route> push_routes(Push& push);

/// The options in the configuration and in the environment of tests.
Push::Options push_options(const Settings& settings);

}  // namespace agw
