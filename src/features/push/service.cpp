// Decides which browsers get notices. The list of subscriptions in memory is a copy of the table. Every write returns
// the new list, and writes complete in order, so the last one is current (`replace`). Sending is in delivery.hpp and
// sender.hpp.

#include "features/push/service.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "config/environment.hpp"
#include "config/settings.hpp"
#include "features/push/encryption.hpp"
#include "features/push/store.hpp"
#include "features/push/types.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

constexpr double latest_time = 8.64e15;  // in milliseconds, the maximum in ECMAScript

void check_keys(const PushKeys& keys) {
  const auto point = from_base64url(keys.p256dh);
  if (!point || !is_ec_point(*point)) {
    throw BadRequest("keys.p256dh must be a public key of P-256 in base64url");
  }
  const auto auth = from_base64url(keys.auth);
  if (!auth || auth->size() != push_auth_size) throw BadRequest("keys.auth must be 16 bytes in base64url");
}

std::vector<PushKind> all_kinds() {
  std::vector<PushKind> kinds;
  for (const auto& name : names(Tag<PushKind>{})) kinds.push_back(static_cast<PushKind>(name.value));
  return kinds;
}

std::vector<PushKind> without_duplicates(std::vector<PushKind> kinds) {
  std::ranges::sort(kinds);
  const auto rest = std::ranges::unique(kinds);
  kinds.erase(rest.begin(), rest.end());
  return kinds;
}

std::optional<Timestamp> expiry_of(std::optional<double> milliseconds, Timestamp now) {
  if (!milliseconds) return std::nullopt;
  if (std::abs(*milliseconds) > latest_time) throw BadRequest("expirationTime must be milliseconds since 1970");
  const Timestamp at{std::chrono::milliseconds(static_cast<std::int64_t>(*milliseconds))};
  if (at <= now) throw BadRequest("the subscription has expired");
  return at;
}

bool replaces(const PushTarget& newer, const PushTarget& older) {
  return older.endpoint == newer.endpoint || (newer.shown.device && older.shown.device == newer.shown.device);
}

/// Returns all subscriptions after the insertion.
std::vector<PushTarget> insert(Connection& connection, const PushTarget& target) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!target.shown.id.empty());
  AGW_ASSERT(!target.shown.kinds.empty());
  auto others = push_store::list(connection);
  const auto replaced = [&](const PushTarget& older) { return replaces(target, older); };
  for (const auto& older : others) {
    if (replaced(older)) push_store::remove(connection, older.shown.id);
  }
  std::erase_if(others, replaced);
  if (others.size() >= Push::max_subscriptions) {
    throw Conflict(fmt::format("there are {} push subscriptions: delete one first", others.size()));
  }
  push_store::insert(connection, target);
  return push_store::list(connection);
}

}  // namespace

Push::Push(Loop& loop, const Services& services, Options options)
    : services_(services),
      key_(services.blocking, services.secrets),
      sender_(services.http, services.blocking, key_, services.clock, std::move(options.contact),
              std::move(options.test_origin)),
      delivery_(loop, sender_,
                {.reachable = [this](const auto& id) { return reachable(id); },
                 .attempted = [this](auto id, auto attempt) { return attempted(std::move(id), std::move(attempt)); }},
                options.limits),
      background_(loop),
      listening_(services.hub, *this) {
  background_.on_failure([](const std::exception_ptr& failure) {
    log::error("push subscriptions could not be removed: {}", message_of(failure));
  });
}

void Push::load(Connection& connection) {
  AGW_ASSERT(latest_.empty());
  targets_ = push_store::list(connection);
  // The first digest is slow, because it makes the library read its configuration.
  if (targets_.empty()) return;
  push_store::delete_others(connection, services_.access.token_id());
  targets_ = push_store::list(connection);
}

Task<> Push::stop() {
  stopping_.request();
  co_await delivery_.stop();
  co_await background_.join();
}

Task<> Push::refresh() { replace(co_await services_.database.write(push_store::list)); }

Task<PushKey> Push::key() {
  try {
    const auto key = co_await key_.get();
    co_return PushKey{to_base64url(key.public_point())};
  } catch (const SecretError& error) {
    throw Conflict(error.what());
  }
}

std::vector<PushSubscription> Push::list() const {
  std::vector<PushSubscription> all;
  all.reserve(targets_.size());
  for (const auto& target : targets_) all.push_back(shown(target));
  return all;
}

Task<PushSubscription> Push::subscribe(NewPushSubscription wanted, InTransaction<PushSubscription> in_transaction) {
  const auto target = target_of(std::move(wanted), (co_await key()).public_key);
  auto all = co_await services_.database.write([target, in_transaction](Connection& connection) {
    auto targets = insert(connection, target);
    if (in_transaction) in_transaction(connection, target.shown);
    return targets;
  });
  replace(std::move(all));
  co_return target.shown;
}

PushTarget Push::target_of(NewPushSubscription wanted, std::string gateway_key) const {
  const auto url = sender_.check(wanted.endpoint);
  check_keys(wanted.keys);
  if (wanted.kinds && wanted.kinds->empty()) throw BadRequest("kinds must name at least one kind");
  if (wanted.device && (wanted.device->empty() || wanted.device->size() > max_device_size))
    throw BadRequest("device must have 1 to 128 bytes");
  const auto now = services_.clock.now();
  return {.shown = {.id = new_id(),
                    .service = url.host(),
                    .kinds = without_duplicates(wanted.kinds ? *std::move(wanted.kinds) : all_kinds()),
                    .device = std::move(wanted.device),
                    .created_at = now,
                    .expires_at = expiry_of(wanted.expirationTime, now)},
          .endpoint = std::move(wanted.endpoint),
          .keys = std::move(wanted.keys),
          .gateway_key = std::move(gateway_key),
          .token_id = services_.access.token_id()};
}

Task<> Push::unsubscribe(std::string id) {
  require(id);
  co_await remove(std::move(id));
}

Task<PushTest> Push::test(std::string id) {
  auto attempt = co_await sender_.send(require(id), test_notice(), stopping_);
  co_await attempted(std::move(id), attempt);
  const bool sent = attempt.end == PushAttempt::End::sent;
  co_return PushTest{
      .sent = sent, .status = attempt.status, .error = sent ? std::nullopt : std::optional(std::move(attempt.error))};
}

void Push::deliver(const DomainEvent& event) {
  if (targets_.empty()) return;
  if (event.record.as<TokenReplaced>()) return forget_all();
  if (event.is_from_another_node) return;  // that node sends it
  const auto notice = notice_of(event);
  if (!notice) return;
  for (const auto& target : targets_) {
    if (contains(target.shown.kinds, notice->kind)) delivery_.queue(target.shown.id, *notice);
  }
}

bool Push::awaits(std::string_view names) const { return names == "proposal." && !targets_.empty(); }

/// Browsers with an invalid token get no more notices.
void Push::forget_all() {
  replace({});
  if (!stopping_.requested()) background_.spawn(remove_other_tokens(services_.access.token_id()));
}

Task<> Push::remove_other_tokens(std::string token_id) {
  replace(co_await services_.database.write([token_id](Connection& connection) {
    push_store::delete_others(connection, token_id);
    return push_store::list(connection);
  }));
}

const PushTarget* Push::find(std::string_view id) const {
  const auto found = std::ranges::find(targets_, id, [](const PushTarget& target) -> auto& { return target.shown.id; });
  return found == targets_.end() ? nullptr : &*found;
}

const PushTarget& Push::require(std::string_view id) const {
  if (const auto* target = find(id)) return *target;
  throw NotFound("push subscription not found");
}

PushSubscription Push::shown(const PushTarget& target) const {
  auto subscription = target.shown;
  if (const auto found = latest_.find(subscription.id); found != latest_.end()) {
    subscription.last_sent_at = found->second.sent_at;
    subscription.last_error = found->second.error;
  }
  return subscription;
}

std::optional<PushTarget> Push::reachable(const std::string& id) const {
  const auto* target = find(id);
  if (!target || (target->shown.device && services_.hub.is_shown_on(*target->shown.device))) return std::nullopt;
  return *target;
}

Task<> Push::attempted(std::string id, PushAttempt attempt) {
  const auto* target = find(id);
  if (!target || attempt.end == PushAttempt::End::stopped) co_return;
  const bool has_expired = target->shown.expires_at && *target->shown.expires_at <= services_.clock.now();
  if (attempt.end == PushAttempt::End::gone || (has_expired && attempt.end != PushAttempt::End::sent)) {
    log::info("the push subscription {} at {} has ended", id, target->shown.service);
    co_return co_await remove(std::move(id));
  }
  AGW_ASSERT(attempt.error.empty() || attempt.end != PushAttempt::End::sent);
  auto& latest = latest_[id];
  if (attempt.end == PushAttempt::End::sent) {
    latest = {.sent_at = services_.clock.now(), .error = std::nullopt};
    co_return;
  }
  log::warn("a notice for the push subscription {} could not be sent: {}", id, attempt.error);
  latest.error = std::move(attempt.error);
}

Task<> Push::remove(std::string id) {
  replace(co_await services_.database.write([id](Connection& connection) {
    push_store::remove(connection, id);
    return push_store::list(connection);
  }));
}

/// Writes complete in the order of their commits, so the last list is the newest.
void Push::replace(std::vector<PushTarget> targets) {
  const auto before = std::exchange(targets_, std::move(targets));
  for (const auto& target : before) {
    const auto& id = target.shown.id;
    if (find(id)) continue;
    delivery_.drop(id);
    latest_.erase(id);
  }
}

/// Push services require a contact for questions about a sender.
Push::Options push_options(const Settings& settings) {
  const bool is_public = settings.public_url.starts_with("https://");
  return {.contact = is_public ? settings.public_url : "https://agent-gateway.example",
          .test_origin = process_environment()("AGENT_GATEWAY_TEST_PUSH_SERVICE").value_or("")};
}

}  // namespace agw
