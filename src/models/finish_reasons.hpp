#pragma once

#include <string_view>

#include "base/text/contains_any.hpp"

namespace agw {

// Why an answer in the form of OpenAI's Chat Completions ended, in the words of the services. Gemini reports reasons in
// its own words behind this API, too.

/// Whether the answer is cut off because the service or the model broke down, in the words of OpenRouter, DeepSeek,
/// Z.ai and SGLang.
inline bool is_breakdown(std::string_view reason) {
  return reason == "error" || reason == "insufficient_system_resource" || reason == "network_error" ||
         reason == "abort" || reason == "aborted" ||
         contains_any(reason, {"MALFORMED_FUNCTION_CALL", "malformed_function_call"});
}

inline bool is_of_length(std::string_view reason) {
  return reason.ends_with("length") || reason == "model_context_window_exceeded" ||
         contains_any(reason, {"max_tokens", "MAX_TOKENS"});
}

inline bool is_of_filter(std::string_view reason) {
  return reason == "sensitive" || reason == "refusal" ||
         contains_any(reason, {"content_filter", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"});
}

}  // namespace agw
