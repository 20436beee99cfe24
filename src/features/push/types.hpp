#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

struct DomainEvent;

/// The kinds of notices to a browser whose page is closed.
enum class PushKind {
  permission_requested,  ///< an agent asks a person for permission
  finish,                ///< a run of over a minute has ended without being stopped
  proposal_created,
  job_failed,
  signal,
};
std::span<const EnumName> names(Tag<PushKind>);

/// The response of `GET /push/key`.
struct PushKey {
  std::string public_key;  ///< the gateway's, for `applicationServerKey`: a point of P-256 in base64url
};
const Description& describe(Tag<PushKey>);

/// The keys of a browser's subscription, in base64url.
struct PushKeys {
  std::string p256dh;
  std::string auth;
};
const Description& describe(Tag<PushKeys>);

/// The body of `POST /push/subscriptions`: the JSON form of a browser's `PushSubscription`, and the kinds of notices to
/// send.
struct NewPushSubscription {
  std::string endpoint;
  std::optional<double> expirationTime;  ///< milliseconds since 1970
  PushKeys keys;
  std::optional<std::vector<PushKind>> kinds;  ///< all when omitted
  std::optional<std::string> device;
};
const Description& describe(Tag<NewPushSubscription>);

/// A subscription. Its endpoint is never returned, because everyone who knows it can send to it.
struct PushSubscription {
  std::string id;
  std::string service;  ///< the host of the push service
  std::vector<PushKind> kinds;
  std::optional<std::string> device;
  Timestamp created_at{};
  std::optional<Timestamp> expires_at;
  // Since startup.
  std::optional<Timestamp> last_sent_at;
  std::optional<std::string> last_error;  ///< why the last notice could not be sent; null if it was sent
};
const Description& describe(Tag<PushSubscription>);

/// The response of `POST /push/subscriptions/:id/test`.
struct PushTest {
  bool sent = false;
  std::optional<int> status;         ///< of the push service
  std::optional<std::string> error;  ///< why it was not sent
};
const Description& describe(Tag<PushTest>);

/// A subscription with its secret parts.
struct PushTarget {
  PushSubscription shown;
  std::string endpoint;
  PushKeys keys;
  std::string gateway_key;
  std::string token_id;
};

/// A notice to a browser. It contains no text of an agent.
struct PushNotice {
  PushKind kind{};
  std::string body;
  std::string url;    ///< of the page, beginning with `/ui/`
  std::string topic;  ///< a newer notice with the same topic replaces an older one; at most 32 characters of base64url
  std::chrono::seconds ttl{};
  bool urgent = false;
};

/// Returns the notice about an event; nullopt if closed pages are not notified of it.
std::optional<PushNotice> notice_of(const DomainEvent& event);

/// The notice with which a person tests a subscription.
PushNotice test_notice();

/// Serialises the notice for the page's service worker.
std::string to_payload(const PushNotice& notice);

}  // namespace agw
