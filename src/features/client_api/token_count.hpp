#pragma once

#include <cstdint>

#include "features/client_api/types.hpp"

namespace agw {

/// How many tokens the model reads for this request, rather too many than too few.
std::int64_t estimated_tokens(const ClientRequest& request);

}  // namespace agw
