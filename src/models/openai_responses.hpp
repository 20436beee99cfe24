#pragma once

#include <memory>

#include "models/settings.hpp"
#include "models/wire_format.hpp"

namespace agw {

/// OpenAI's Responses API, stateless: OpenAI stores nothing, and reasoning items come encrypted with the reply and are
/// sent back with the turn they belong to.
std::unique_ptr<WireFormat> openai_responses_format(ProviderSettings settings);

}  // namespace agw
