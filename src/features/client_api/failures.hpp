#pragma once

#include "api/error.hpp"
#include "models/model.hpp"

namespace agw {

/// A model's failure as the error of a program's request. What is wrong between the gateway and the service, such as
/// its key, is not the program's fault: 502.
ApiError client_failure(const ModelFailure& failure);

}  // namespace agw
