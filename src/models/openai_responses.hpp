#pragma once

#include <memory>

#include "models/settings.hpp"
#include "models/wire.hpp"

namespace agw {

/// OpenAI's Responses, without state on their side: nothing is stored there, and reasoning items come back encrypted
/// with the reply, to be sent again with the turn they belong to.
std::unique_ptr<WireFormat> openai_responses_wire(ProviderSettings settings);

}  // namespace agw
