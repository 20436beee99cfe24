#pragma once

#include <memory>

#include "models/settings.hpp"
#include "models/wire_format.hpp"

namespace agw {

/// Anthropic's Messages API. Thinking blocks come with the reply and are sent back unchanged with the turn they belong
/// to; the prompt is cached at the tools, the system prompt and the last two user messages.
std::unique_ptr<WireFormat> anthropic_format(ProviderSettings settings);

}  // namespace agw
