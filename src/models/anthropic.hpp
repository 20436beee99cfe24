#pragma once

#include <memory>

#include "models/settings.hpp"
#include "models/wire.hpp"

namespace agw {

/// Anthropic's Messages. Thinking blocks come back with the reply and are sent again, unchanged, with the turn they
/// belong to; the prompt is cached up to the last user message.
std::unique_ptr<WireFormat> anthropic_wire(ProviderSettings settings);

}  // namespace agw
