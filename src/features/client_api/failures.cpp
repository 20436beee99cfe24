#include "features/client_api/failures.hpp"

#include <chrono>

#include "api/client_errors.hpp"

namespace agw {

namespace {

ApiError by_status(const ModelFailure& failure, std::string_view conversation) {
  if (failure.too_long) return client_error(400, failure.message, std::string(conversation), "context_length_exceeded");
  switch (failure.status) {
    case 400:
    case 413:
    case 422:
      return client_error(400, failure.message, failure.param);
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

/// Whether the program chose settings that services may refuse. Services accept any token limit, and do not get hints
/// that they do not support.
bool can_be_refused(const CallSettings& settings) {
  const auto& options = settings.options;
  return options.reasoning_effort || options.parallel_tool_calls || options.seed || !options.service_tier.empty() ||
         !options.verbosity.empty();
}

}  // namespace

ApiError client_failure(const ModelFailure& failure, std::string_view conversation) {
  auto error = by_status(failure, conversation);
  const bool is_temporary = error.status() == 429 || error.status() == 503;
  if (failure.retry_after && is_temporary)
    error.set_retry_after(std::chrono::ceil<std::chrono::seconds>(*failure.retry_after));
  return error;
}

ApiError agent_failure(const std::string& problem, const std::optional<ModelFailure>& failure,
                       const CallSettings& settings, std::string_view conversation) {
  const int status = failure ? failure->status : 0;
  const bool is_limited = status == 402 || status == 429;
  const bool is_overloaded = status == 503 || status == 529;
  const bool is_refused = (status == 400 || status == 422) && can_be_refused(settings);
  if (is_limited || is_overloaded || is_refused) return client_failure(*failure, conversation);
  return client_error(502, problem, {}, "agent_failed");
}

}  // namespace agw
