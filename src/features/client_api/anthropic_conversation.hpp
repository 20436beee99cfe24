#pragma once

#include <string>

#include "features/client_api/types.hpp"

namespace agw {

/// Reads the messages of Anthropic's Messages into the request, whose model must be set. Throws ApiError 400 that names
/// the invalid block.
void read_anthropic_conversation(const json::array& messages, ClientRequest& request);

/// A text, or the texts of text blocks, whose `cache_control` is added to the options. Throws ApiError 400 that names
/// `path`.
std::string anthropic_text(const json::value& content, const std::string& path, CallOptions& options);

}  // namespace agw
