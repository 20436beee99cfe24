#pragma once

#include <memory>

#include "models/settings.hpp"
#include "models/wire_format.hpp"

namespace agw {

/// OpenAI's Chat Completions API, as OpenAI and the many compatible servers implement it: llama.cpp, vLLM, LM Studio,
/// OpenRouter and others.
std::unique_ptr<WireFormat> openai_chat_format(ProviderSettings settings);

}  // namespace agw
