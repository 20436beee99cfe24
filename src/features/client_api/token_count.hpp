#pragma once

#include <cstdint>

#include "features/client_api/types.hpp"

namespace agw {

/// An estimate, biased upwards, of the model's input tokens for this request.
std::int64_t estimated_tokens(const ClientRequest& request);

}  // namespace agw
