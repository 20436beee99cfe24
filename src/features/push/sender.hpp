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

/// How one attempt to send a notice ended.
struct PushAttempt {
  enum class End {
    sent,
    gone,     ///< the push service does not know the subscription any more
    again,    ///< it may work later
    refused,  ///< it will not work
    stopped,
  };
  End end = End::refused;
  std::optional<int> status{};
  std::optional<std::chrono::milliseconds> retry_after{};  ///< how long the service asks to wait
  std::string error{};                                     ///< for people; empty if it was sent
};

/// Sends notices to push services (RFC 8030). Their addresses come from browsers, so they are strangers: only public
/// addresses over HTTPS, small answers, no redirects.
class PushSender {
public:
  /// `contact` is a URL, for the operators of push services. `test_origin` may be private and unencrypted.
  PushSender(HttpClient& http, BlockingPool& blocking, VapidKey& key, const Clock& clock, std::string contact,
             std::string test_origin);

  /// Throws BadRequest unless `endpoint` may be a push service's.
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
