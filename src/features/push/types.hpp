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
  permission_requested,  ///< an agent asks a person
  finish,                ///< a run of over a minute has ended by itself
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

/// The body of `POST /push/subscriptions`: what a browser's `PushSubscription` is as JSON, and what to send to it.
struct NewPushSubscription {
  std::string endpoint;
  std::optional<double> expirationTime;  ///< milliseconds since 1970
  PushKeys keys;
  std::optional<std::vector<PushKind>> kinds;  ///< all when omitted
  std::optional<std::string> device;
};
const Description& describe(Tag<NewPushSubscription>);

/// A subscription. Its endpoint is shown to nobody: who knows it can send to it.
struct PushSubscription {
  std::string id;
  std::string service;  ///< the host of the push service
  std::vector<PushKind> kinds;
  std::optional<std::string> device;
  Timestamp created_at{};
  std::optional<Timestamp> expires_at;
  // Since the gateway started.
  std::optional<Timestamp> last_sent_at;
  std::optional<std::string> last_error;  ///< why the last notice could not be sent; null once one could
};
const Description& describe(Tag<PushSubscription>);

/// The response of `POST /push/subscriptions/:id/test`.
struct PushTest {
  bool sent = false;
  std::optional<int> status;         ///< of the push service
  std::optional<std::string> error;  ///< why it was not sent
};
const Description& describe(Tag<PushTest>);

/// A subscription, with what only the gateway may know.
struct PushTarget {
  PushSubscription shown;
  std::string endpoint;
  PushKeys keys;
  std::string gateway_key;
  std::string token_id;
};

/// A notice to a browser. It contains nothing that an agent wrote.
struct PushNotice {
  PushKind kind{};
  std::string body;
  std::string url;    ///< of the page, beginning with `/ui/`
  std::string topic;  ///< a newer notice of the same topic replaces an older one: at most 32 characters of base64url
  std::chrono::seconds ttl{};
  bool urgent = false;
};

/// The notice about an event; nullopt if closed pages get none.
std::optional<PushNotice> notice_of(const DomainEvent& event);

/// The notice that a person asked for to see that it arrives.
PushNotice test_notice();

/// The notice as the page's service worker reads it.
std::string to_payload(const PushNotice& notice);

}  // namespace agw
