#pragma once

#include <string_view>

#include "base/json/json.hpp"

namespace agw {

// Changes to a written request that a service has refused. Each returns whether it changed anything.

/// Fits the limit of output tokens to the numbers of a refusal: to the model's own limit, or to what its window leaves
/// for the answer. If that is less than 1,024 tokens, the conversation is too long, and nothing changes. A limit below
/// the service's minimum becomes that.
/// Example: src/models/adjustments_test.cpp: FitLimit.LeavesTheAnswerWhatTheInputLeaves
bool fit_limit(json::object& request, std::string_view refusal);

}  // namespace agw
