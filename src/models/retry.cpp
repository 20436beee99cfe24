#include "models/retry.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "base/log.hpp"

namespace agw {

namespace {

using std::chrono::milliseconds;
using Kind = ModelFailure::Kind;

bool is_worth_another_try(const ModelFailure& failure) {
  return failure.kind == Kind::unavailable || failure.kind == Kind::rate_limited || failure.kind == Kind::protocol;
}

/// Where a quota is used up, or a service that is down wants no other try, another model may answer.
bool is_worth_another_model(const ModelFailure& failure) {
  return is_worth_another_try(failure) || failure.status == 429 || failure.status >= 500;
}

/// As many clients that failed together should not come back together.
milliseconds jittered(milliseconds delay) {
  static std::minstd_rand random{std::random_device{}()};
  const auto quarter = static_cast<int>(delay.count() / 4);
  return delay - milliseconds(std::uniform_int_distribution(0, quarter)(random));
}

/// How long to wait before the try after `tries` of them; nothing where there should be none.
std::optional<milliseconds> delay_after(int tries, const ModelFailure& failure, const RetryPolicy& policy) {
  if (tries > policy.retries || !is_worth_another_try(failure)) return std::nullopt;
  if (failure.retry_after) {
    if (*failure.retry_after > policy.longest_retry_after) return std::nullopt;
    return failure.retry_after;
  }
  const auto doubled = policy.first_delay * (1 << std::min(tries - 1, 16));
  return jittered(std::min<milliseconds>(doubled, policy.longest_delay));
}

/// One model, as often as the policy allows. `began` tells whether a delta came. All tries count into the usage.
Task<ModelOutcome> ask(const ModelChoice& choice, const ModelRequest& request, const OnDelta& on_delta, Stop& stop,
                       const RetryPolicy& policy, const bool& began) {
  Usage spent;
  for (int tries = 1;; ++tries) {
    auto outcome = co_await choice.provider->answer(request, on_delta, stop);
    std::visit([&](auto& end) { spent = end.usage += spent; }, outcome);
    const auto* failure = std::get_if<ModelFailure>(&outcome);
    if (!failure || began) co_return outcome;
    const auto delay = delay_after(tries, *failure, policy);
    if (!delay) co_return outcome;
    log::warn("{}: {}; try {} in {} ms", choice.id(), failure->message, tries + 1, delay->count());
    if (co_await pause(stop, *delay) == End::stopped) {
      ModelFailure stopped;
      stopped.kind = Kind::stopped;
      stopped.message = choice.provider_name + " was stopped";
      stopped.usage = spent;
      co_return stopped;
    }
  }
}

/// The failures of all models that were asked, as one.
ModelFailure joined(std::optional<ModelFailure> earlier, ModelFailure last) {
  if (earlier) last.message = earlier->message + "; " + last.message;
  return last;
}

}  // namespace

Task<Answered> answer_with_retries(std::vector<ModelChoice> choices, ModelRequest request, const OnDelta& on_delta,
                                   Stop& stop, RetryPolicy policy) {
  bool began = false;
  const OnDelta noticing = [&](const Delta& delta) {
    began = true;
    on_delta(delta);
  };
  std::optional<ModelFailure> earlier;
  const auto wanted_tokens = request.max_output_tokens;
  for (auto choice = choices.begin();; ++choice) {
    request.model = choice->model;
    request.max_output_tokens = std::min(wanted_tokens, choice->most_output_tokens);
    auto outcome = co_await ask(*choice, request, noticing, stop, policy, began);
    auto* failure = std::get_if<ModelFailure>(&outcome);
    if (failure) *failure = joined(std::exchange(earlier, std::nullopt), std::move(*failure));
    const bool go_on = failure && !began && is_worth_another_model(*failure) && choice + 1 != choices.end();
    if (!go_on) co_return Answered{std::move(outcome), choice->provider_name, choice->model};
    log::warn("{}: {}; asking {} instead", choice->id(), failure->message, (choice + 1)->id());
    earlier = std::move(*failure);
  }
}

}  // namespace agw
