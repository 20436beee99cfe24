#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "models/catalog.hpp"
#include "models/model.hpp"

namespace agw {

/// How often, and after which delays, a call is tried again.
struct RetryPolicy {
  int retries = 4;
  std::chrono::milliseconds first_delay{500};  ///< doubled each time, and shortened by up to a quarter at random
  std::chrono::milliseconds longest_delay{8'000};
  /// A provider that wants to be left alone for longer is not waited for.
  std::chrono::milliseconds longest_retry_after{60'000};
};

/// An outcome, and whose it is.
struct Answered {
  ModelOutcome outcome;
  std::string provider;  ///< the name of the last provider that was asked
  std::string model;     ///< the id that it knows

  std::string id() const { return provider + "/" + model; }
  /// What was used, by a failure too.
  const Usage& usage() const {
    const auto* reply = std::get_if<ModelReply>(&outcome);
    return reply ? reply->usage : std::get<ModelFailure>(outcome).usage;
  }
};

/// Asks the first of `choices` (at least one), and while no delta has come, again where that is worth it (429, 5xx,
/// 529, a broken connection, garbage), then the others in turn. After the first delta nothing is tried again: the
/// failure is returned, and what came is the caller's to keep. `stop` ends a delay as well as a call. `request.model`
/// is filled in here, and `request.max_output_tokens` is kept within what each model can.
Task<Answered> answer_with_retries(std::vector<ModelChoice> choices, ModelRequest request, const OnDelta& on_delta,
                                   Stop& stop, RetryPolicy policy = {});

}  // namespace agw
