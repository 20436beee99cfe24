#pragma once

#include <cstdint>
#include <memory>

#include "models/settings.hpp"
#include "models/wire.hpp"

namespace agw {

/// What Ollama is asked to keep in mind: its own default may be as little as 4,096 tokens, and it forgets silently.
inline constexpr std::int64_t ollama_context_window = 32'768;

/// Ollama's own interface.
std::unique_ptr<WireFormat> ollama_wire(ProviderSettings settings);

}  // namespace agw
