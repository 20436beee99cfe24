#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/error.hpp"
#include "models/model.hpp"

namespace agw {

/// Converts a model's failure to the error of a program's request. Problems between the gateway and the service, such
/// as an invalid key, are not the program's fault: 502. Errors for a rate limit or an overloaded service state how long
/// to wait, if the service did. `conversation` is the protocol's parameter with the messages.
ApiError client_failure(const ModelFailure& failure, std::string_view conversation);

/// The error of an agent's answer that failed because of `problem`. `failure` is that of the model, if it failed.
/// Limits and overload of the model are reported as such. A request that the model's service refused is the program's
/// fault if the program chose some of its `settings`. Everything else is a 502.
ApiError agent_failure(const std::string& problem, const std::optional<ModelFailure>& failure,
                       const CallSettings& settings, std::string_view conversation);

}  // namespace agw
