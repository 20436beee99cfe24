#pragma once

#include <cstdint>
#include <memory>

#include "models/settings.hpp"
#include "models/wire_format.hpp"

namespace agw {

/// The context window that is requested where the service's definition says none, in tokens: Ollama's default may be as
/// small as 4,096, and it truncates silently.
inline constexpr std::int64_t ollama_context_window = 32'768;

/// Ollama's own API.
std::unique_ptr<WireFormat> ollama_format(ProviderSettings settings);

}  // namespace agw
