// Decides when a failed model call is retried, and when another model is called. docs/contract/models.md has the rules.
//
// A *try* is one call of one choice. A *choice* is a model at a provider; the choices are the model of the run and its
// fallbacks. An answer has *begun* with its first delta.
//
// Invariant: a reader never sees the beginning of two answers. Once an answer has begun, its failure is the result.
//
// 1. Call the choice. If it answers, that is the result.
// 2. If the failure may pass (unavailable, but not because of a certificate; rate limited; a response that violates the
//    protocol) and there were fewer than four retries, wait and go to 1. The delay is what the provider requests; if
//    that is over a minute, do not retry. If it requests none, the delays are 0.5, 1, 2 and 4 s, each shortened by up
//    to a quarter at random.
// 3. If the failure is of that kind, or is an exhausted quota (429), 402 or any 5xx, go to 1 with the next choice.
// 4. Otherwise, or after the last choice, the failures of all choices are the result, in one message.
//
// Other rejections are not passed to another model: a person must correct a wrong key, and context_window.cpp shortens
// a request that is too long. The usage includes the tokens of failed tries.

#include "models/retry.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "base/async/assert.hpp"
#include "base/log.hpp"

namespace agw {

namespace {

using std::chrono::milliseconds;
using Kind = ModelFailure::Kind;

bool is_retryable(const ModelFailure& failure) {
  return failure.kind == Kind::unavailable || failure.kind == Kind::rate_limited || failure.kind == Kind::protocol;
}

/// Another model may answer if a quota is exhausted, or a service is not paid for or down.
bool may_try_next_model(const ModelFailure& failure) {
  return is_retryable(failure) || failure.status == 402 || failure.status == 429 || failure.status >= 500;
}

/// Jitter: clients that failed at the same time should not retry at the same time.
milliseconds jittered(milliseconds delay) {
  AGW_ASSERT(delay.count() >= 0);
  static std::minstd_rand random{std::random_device{}()};
  const auto quarter = static_cast<int>(delay.count() / 4);
  return delay - milliseconds(std::uniform_int_distribution(0, quarter)(random));
}

/// The delay before the next attempt, after `tries` of them; nullopt if there should be none.
std::optional<milliseconds> delay_after(int tries, const ModelFailure& failure, const RetryPolicy& policy) {
  AGW_ASSERT(tries >= 1);
  if (tries > policy.retries || !is_retryable(failure) || failure.is_lasting) return std::nullopt;
  if (failure.retry_after) {
    if (*failure.retry_after > policy.max_retry_after) return std::nullopt;
    return failure.retry_after;
  }
  const auto doubled = policy.first_delay * (1 << std::min(tries - 1, 16));
  return jittered(std::min<milliseconds>(doubled, policy.max_delay));
}

/// Waits until it is time to retry a failed call. Returns false if it should not be retried; `failure` is then the
/// result.
Task<bool> wait_for_retry(const ModelChoice& choice, int tries, ModelFailure& failure, StopSource& stop,
                          const RetryPolicy& policy) {
  const auto delay = delay_after(tries, failure, policy);
  if (!delay) co_return false;
  log::warn("{}: {}; try {} in {} ms", choice.id(), failure.message, tries + 1, delay->count());
  if (co_await pause(stop, *delay) != WaitResult::stopped) co_return true;
  ModelFailure stopped;
  stopped.kind = Kind::stopped;
  stopped.message = choice.provider_name + " was stopped";
  stopped.usage = failure.usage;
  failure = std::move(stopped);
  co_return false;
}

/// Calls one model as often as the policy allows. `began`: whether a delta has arrived. The usage is the sum of all
/// tries.
Task<ModelOutcome> ask(const ModelChoice& choice, const ModelRequest& request, const OnDelta& on_delta,
                       StopSource& stop, const RetryPolicy& policy, const bool& began) {
  Usage spent;
  for (int tries = 1;; ++tries) {
    auto outcome = co_await choice.provider->answer(request, on_delta, stop);
    std::visit([&](auto& end) { spent = end.usage += spent; }, outcome);
    auto* failure = std::get_if<ModelFailure>(&outcome);
    if (!failure || began || !co_await wait_for_retry(choice, tries, *failure, stop, policy)) co_return outcome;
  }
}

/// Combines the failures of all models that were called.
ModelFailure joined(std::optional<ModelFailure> earlier, ModelFailure last) {
  if (earlier) last.message = earlier->message + "; " + last.message;
  return last;
}

}  // namespace

Task<Completion> answer_with_retries(std::vector<ModelChoice> choices, ModelRequest request, const OnDelta& on_delta,
                                     StopSource& stop, RetryPolicy policy) {
  co_return co_await answer_borrowed(std::move(choices), request, on_delta, stop, policy);
}

Task<Completion> answer_borrowed(std::vector<ModelChoice> choices, ModelRequest& request, const OnDelta& on_delta,
                                 StopSource& stop, RetryPolicy policy) {
  AGW_ASSERT(!choices.empty());
  bool began = false;
  const bool streams_calls = request.options.streams_calls;
  const OnDelta noticing = [&, streams_calls](const Delta& delta) {
    const bool is_for_everybody = delta.kind == Delta::Kind::text || delta.kind == Delta::Kind::reasoning;
    if (!is_for_everybody && !streams_calls) return;
    began = began || delta.kind != Delta::Kind::service_tier;
    on_delta(delta);
  };
  std::optional<ModelFailure> earlier;
  const auto wanted_tokens = request.max_output_tokens;
  const auto ceiling = request.options.output_ceiling;
  std::vector<ToolDescription> tools;  // of the request, while the called model takes none
  for (auto choice = choices.begin();; ++choice) {
    AGW_ASSERT(choice->provider);
    AGW_ASSERT(!began);  // a reader never sees the beginning of two answers
    AGW_ASSERT(tools.empty());
    request.model = choice->model;
    request.max_output_tokens = std::min(wanted_tokens, choice->output_token_limit);
    if (!choice->is_limit_assumed) request.options.output_ceiling = std::min(ceiling, choice->output_token_limit);
    if (!choice->takes_tools) tools.swap(request.tools);
    auto outcome = co_await ask(*choice, request, noticing, stop, policy, began);
    if (!choice->takes_tools) tools.swap(request.tools);
    request.max_output_tokens = wanted_tokens;
    request.options.output_ceiling = ceiling;
    auto* failure = std::get_if<ModelFailure>(&outcome);
    if (failure) *failure = joined(std::exchange(earlier, std::nullopt), std::move(*failure));
    const bool try_next = failure && !began && may_try_next_model(*failure) && choice + 1 != choices.end();
    if (!try_next) co_return Completion{std::move(outcome), choice->provider_name, choice->model, choice->price};
    log::warn("{}: {}; asking {} instead", choice->id(), failure->message, (choice + 1)->id());
    earlier = std::move(*failure);
  }
}

Task<std::variant<json::object, ModelFailure>> embed_with_retries(ModelChoice choice, json::object body,
                                                                  StopSource& stop, RetryPolicy policy) {
  AGW_ASSERT(choice.provider);
  body["model"] = choice.model;
  for (int tries = 1;; ++tries) {
    auto outcome = co_await choice.provider->embed(body, stop);
    auto* failure = std::get_if<ModelFailure>(&outcome);
    if (!failure || !co_await wait_for_retry(choice, tries, *failure, stop, policy)) co_return outcome;
  }
}

}  // namespace agw
