#pragma once

#include <memory>

#include "models/settings.hpp"
#include "models/wire.hpp"

namespace agw {

/// OpenAI's Chat Completions, as OpenAI itself and the many compatible servers speak it: llama.cpp, vLLM, LM Studio,
/// OpenRouter and others.
std::unique_ptr<WireFormat> openai_chat_wire(ProviderSettings settings);

}  // namespace agw
