#pragma once

#include "io/http/web_request.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The response of a service as the model reads it: its text, and its status if that adds information.
ToolOutcome http_response(const WebResponse& response);

}  // namespace agw
