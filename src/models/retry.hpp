#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/catalog.hpp"
#include "models/model.hpp"

namespace agw {

/// How often, and after which delays, a call is retried.
struct RetryPolicy {
  int retries = 4;
  std::chrono::milliseconds first_delay{500};  ///< doubled each time, and randomly shortened by up to a quarter
  std::chrono::milliseconds max_delay{8'000};
  /// If a provider requests a longer delay, the call is not retried.
  std::chrono::milliseconds max_retry_after{60'000};
};

/// The outcome of a model call, and the model that was called last.
struct Completion {
  ModelOutcome outcome;
  std::string provider;          ///< the name of the last provider that was called
  std::string model;             ///< the model's id at that provider
  std::optional<Price> price{};  ///< ModelChoice::price

  std::string id() const { return provider + "/" + model; }
  /// The tokens used, including those of a failed call.
  const Usage& usage() const {
    const auto* reply = std::get_if<ModelReply>(&outcome);
    return reply ? reply->usage : std::get<ModelFailure>(outcome).usage;
  }
};

/// Calls the first of `choices` (at least one) and retries after failures that may pass (429, 5xx, 529, a broken
/// connection, a malformed response), then tries the other choices in order. After the first delta there are no
/// retries: the failure is returned, and the caller keeps the deltas. `stop` also ends delays. Sets `request.model`,
/// and limits `request.max_output_tokens` to the model's maximum.
/// Example: src/models/retry_test.cpp: Retries.GoOnToTheNextModel
Task<Completion> answer_with_retries(std::vector<ModelChoice> choices, ModelRequest request, const OnDelta& on_delta,
                                     StopSource& stop, RetryPolicy policy = {});

/// The same without a copy of a large request, whose model this sets; all else in it is afterwards as before.
Task<Completion> answer_borrowed(std::vector<ModelChoice> choices, ModelRequest& request, const OnDelta& on_delta,
                                 StopSource& stop, RetryPolicy policy = {});

/// Makes embeddings with `choice` (Provider::embed), with the same retries as for answers. Sets the `model` of `body`.
/// Example: src/models/retry_test.cpp: Retries.AreMadeForEmbeddingsToo
Task<std::variant<json::object, ModelFailure>> embed_with_retries(ModelChoice choice, json::object body,
                                                                  StopSource& stop, RetryPolicy policy = {});

}  // namespace agw
