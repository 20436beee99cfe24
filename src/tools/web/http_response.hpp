#pragma once

#include "io/http/web_request.hpp"
#include "tools/tool.hpp"

namespace agw {

/// Formats the response of a service for the model: its text, and its status if that adds information.
ToolOutcome http_response(const WebResponse& response);

}  // namespace agw
