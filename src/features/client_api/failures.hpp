#pragma once

#include <optional>
#include <string>

#include "api/error.hpp"
#include "models/model.hpp"

namespace agw {

/// A model's failure as the error of a program's request. What is wrong between the gateway and the service, such as
/// its key, is not the program's fault: 502. A limited rate and an overloaded service say how long to wait, if the
/// service did.
ApiError client_failure(const ModelFailure& failure);

/// The error of an agent's answer that failed because of `problem`; `failure`: its model's, if that failed. Limits and
/// overload are those of the model. A request that the model's service refused is the program's fault if the program
/// chose `settings` of it. All else is a 502.
ApiError agent_failure(const std::string& problem, const std::optional<ModelFailure>& failure,
                       const CallSettings& settings);

}  // namespace agw
