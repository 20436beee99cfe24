#pragma once

#include <chrono>
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
  /// If a provider asks to wait for longer, the call is not retried.
  std::chrono::milliseconds max_retry_after{60'000};
};

/// How a model call ended, and which model was asked last.
struct Completion {
  ModelOutcome outcome;
  std::string provider;  ///< the name of the last provider that was asked
  std::string model;     ///< the id that it knows

  std::string id() const { return provider + "/" + model; }
  /// The tokens used, by a failed call too.
  const Usage& usage() const {
    const auto* reply = std::get_if<ModelReply>(&outcome);
    return reply ? reply->usage : std::get<ModelFailure>(outcome).usage;
  }
};

/// Calls the first of `choices` (at least one); retries it if that may help (429, 5xx, 529, a broken connection,
/// garbage), then tries the others in turn. After the first delta nothing is retried: the failure is returned, and the
/// caller keeps what has arrived. `stop` ends delays as well as calls. Fills in `request.model`, and limits
/// `request.max_output_tokens` to the model's maximum.
/// Example: src/models/retry_test.cpp: Retries.GoOnToTheNextModel
Task<Completion> answer_with_retries(std::vector<ModelChoice> choices, ModelRequest request, const OnDelta& on_delta,
                                     StopSource& stop, RetryPolicy policy = {});

/// Has `choice` make embeddings (Provider::embed), and retries that as often as an answer. Fills in the `model` of
/// `body`. Example: src/models/retry_test.cpp: Retries.AreMadeForEmbeddingsToo
Task<std::variant<json::object, ModelFailure>> embed_with_retries(ModelChoice choice, json::object body,
                                                                  StopSource& stop, RetryPolicy policy = {});

}  // namespace agw
