#include "features/push/sender.hpp"

#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/digest.hpp"
#include "features/push/encryption.hpp"
#include "features/push/types.hpp"
#include "io/http/public_address.hpp"
#include "models/failures.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;
using End = PushAttempt::End;

constexpr std::size_t max_endpoint_size = 2048;
constexpr std::size_t max_answer_size = 4096;
constexpr auto time_limit = 10s;

bool is_private_host(std::string_view url_host) {
  const std::string host(without_root(url_host));
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  const auto address = numeric_address(host);
  return address && !is_public_address(*address);
}

/// An encrypted message, ready to send.
struct Sealed {
  std::string authorization;
  std::string body;
};

Sealed seal(const EcKey& key, const PushTarget& target, const PushNotice& notice, const std::string& origin,
            const std::string& contact, Timestamp now) {
  return {.authorization = vapid_authorization(key, origin, contact, now),
          .body = encrypt_push(to_payload(notice), from_base64url(target.keys.p256dh).value(),
                               from_base64url(target.keys.auth).value(), EcKey::generate(), random_push_salt())};
}

bool is_retryable_status(int status) { return status == 408 || status == 429 || status >= 500; }

PushAttempt attempt_of(const WebResponse& response, Timestamp now) {
  if (!response.problem.empty()) {
    // Retrying a non-public address is pointless.
    return {.end = response.refused_address.empty() ? End::again : End::refused, .error = response.problem};
  }
  const int status = response.head.status;
  PushAttempt attempt{.end = End::refused, .status = status};
  if (status >= 200 && status < 300) {
    attempt.end = End::sent;
  } else if (status == 404 || status == 410) {
    attempt.end = End::gone;
    attempt.error = "the push service does not know this browser any more: subscribe again";
  } else {
    if (is_retryable_status(status)) attempt.end = End::again;
    attempt.retry_after = retry_after(response.head, now);
    attempt.error = fmt::format("{} answered {}", response.url.host(), status);
  }
  return attempt;
}

}  // namespace

PushSender::PushSender(HttpClient& http, BlockingPool& blocking, VapidKey& key, const Clock& clock, std::string contact,
                       std::string test_origin)
    : http_(http),
      blocking_(blocking),
      key_(key),
      clock_(clock),
      contact_(std::move(contact)),
      test_origin_(std::move(test_origin)) {}

WebUrl PushSender::check(const std::string& endpoint) const {
  if (endpoint.size() > max_endpoint_size) throw BadRequest("endpoint is longer than 2048 bytes");
  auto url = WebUrl::parse(endpoint);
  if (url && !test_origin_.empty() && url->origin() == test_origin_) return *std::move(url);
  if (!url || !url->origin().starts_with("https://")) throw BadRequest("endpoint must be an https URL");
  if (is_private_host(url->host())) {
    throw BadRequest(fmt::format("endpoint must be on the public internet, not at {}", url->host()));
  }
  return *std::move(url);
}

Task<PushAttempt> PushSender::send(PushTarget target, PushNotice notice, StopSource& stop) {
  PushAttempt failed;
  try {
    auto url = check(target.endpoint);
    co_return co_await post(std::move(url), std::move(target), std::move(notice), stop);
  } catch (const ApiError& error) {
    failed.error = error.error();
  } catch (const std::exception& error) {
    failed.error = error.what();
  }
  co_return failed;
}

Task<PushAttempt> PushSender::post(WebUrl url, PushTarget target, PushNotice notice, StopSource& stop) {
  auto key = co_await key_.find();
  // The push service accepts only the key with which the browser subscribed.
  if (!key || to_base64url(key->public_point()) != target.gateway_key) {
    co_return PushAttempt{.end = End::gone, .error = "the gateway has another key now: subscribe again"};
  }
  auto sealed = co_await blocking_.run(
      [key = *std::move(key), target = std::move(target), notice, origin = url.origin(), contact = contact_,
       now = clock_.now()] { return seal(key, target, notice, origin, contact, now); });
  WebRequest request{
      .url = std::move(url),
      .method = "POST",
      .headers = {{"Content-Type", "application/octet-stream"},
                  {"Content-Encoding", "aes128gcm"},
                  {"TTL", std::to_string(notice.ttl.count())},
                  {"Urgency", notice.urgent ? "high" : "normal"},
                  {"Topic", notice.topic},
                  {"Authorization", std::move(sealed.authorization)}},
      .body = std::move(sealed.body),
      .max_body_bytes = max_answer_size,
      .truncate_body = true,
      .limit = time_limit,
      .idle_timeout = time_limit,
      .may_be_private = [origin = test_origin_](const WebUrl& to) { return !origin.empty() && to.origin() == origin; }};
  const auto response = co_await send_web_request(http_, std::move(request), stop);
  if (stop.requested()) co_return PushAttempt{.end = End::stopped, .error = "stopped"};
  co_return attempt_of(response, clock_.now());
}

}  // namespace agw
