#include "features/client_api/failures.hpp"

#include "api/client_errors.hpp"

namespace agw {

ApiError client_failure(const ModelFailure& failure) {
  if (failure.too_long) return client_error(400, failure.message, "messages", "context_length_exceeded");
  switch (failure.status) {
    case 400:
    case 413:
    case 422:
      return client_error(400, failure.message);
    case 404:
      return client_error(404, failure.message, "model", "model_not_found");
    case 402:
      return client_error(429, failure.message, {}, "insufficient_quota");
    case 429:
      return client_error(429, failure.message, {},
                          failure.kind == ModelFailure::Kind::refused ? "insufficient_quota" : "rate_limit_exceeded");
    case 503:
    case 529:
      return client_error(503, failure.message, {}, "service_unavailable");
    default:
      return client_error(502, failure.message, {}, "bad_gateway");
  }
}

}  // namespace agw
