#pragma once

#include <cstdint>

#include "features/client_api/types.hpp"

namespace agw {

/// An estimate of the tokens that the model reads for this request, rather too high than too low.
std::int64_t estimated_tokens(const ClientRequest& request);

}  // namespace agw
