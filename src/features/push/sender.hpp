#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "features/push/types.hpp"
#include "features/push/vapid_key.hpp"
#include "io/http/web_request.hpp"

namespace agw {

/// The result of one attempt to send a notice.
struct PushAttempt {
  enum class End {
    sent,
    gone,     ///< the push service no longer knows the subscription
    again,    ///< retry later
    refused,  ///< do not retry
    stopped,
  };
  End end = End::refused;
  std::optional<int> status{};
  std::optional<std::chrono::milliseconds> retry_after{};  ///< the delay that the service requests
  std::string error{};                                     ///< for people; empty on success
};

/// Sends notices to push services (RFC 8030). Their addresses come from browsers and are untrusted: only public
/// addresses over HTTPS, size limits on responses, no redirects.
class PushSender {
public:
  /// `contact` is a URL, for the operators of push services. `test_origin` may be private and unencrypted.
  PushSender(HttpClient& http, BlockingPool& blocking, VapidKey& key, const Clock& clock, std::string contact,
             std::string test_origin);

  /// Throws BadRequest if `endpoint` cannot be a push service's.
  WebUrl check(const std::string& endpoint) const;

  Task<PushAttempt> send(PushTarget target, PushNotice notice, StopSource& stop);

private:
  Task<PushAttempt> post(WebUrl url, PushTarget target, PushNotice notice, StopSource& stop);

  HttpClient& http_;
  BlockingPool& blocking_;
  VapidKey& key_;
  const Clock& clock_;
  std::string contact_;
  std::string test_origin_;
};

}  // namespace agw
