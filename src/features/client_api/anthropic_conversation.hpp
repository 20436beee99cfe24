#pragma once

#include <optional>
#include <string>

#include "features/client_api/parameters.hpp"
#include "features/client_api/types.hpp"

namespace agw {

/// Reads the messages of Anthropic's Messages into the request, whose model must be set. Throws ApiError 400 that names
/// the invalid block. Returns the effort that the latest system message asks for, if one does.
std::optional<std::string> read_anthropic_conversation(const json::array& messages, ClientRequest& request);

/// Reads the `effort` of an `output_config`.
std::optional<std::string> read_anthropic_effort(Parameters& config);

/// A text, or the texts of text blocks, whose `cache_control` is added to the options. Throws ApiError 400 that names
/// `path`.
std::string anthropic_text(const json::value& content, const std::string& path, CallOptions& options);

}  // namespace agw
