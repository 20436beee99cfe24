#pragma once

#include <memory>

#include "models/settings.hpp"
#include "models/wire_format.hpp"

namespace agw {

/// Anthropic's Messages API. Thinking blocks come with the reply and are sent back unchanged with the turn they belong
/// to; the prompt is cached up to the last user message.
std::unique_ptr<WireFormat> anthropic_format(ProviderSettings settings);

}  // namespace agw
