#pragma once

#include "io/web_request.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The answer of a service as the model reads it: its text, and its status where that says more.
ToolOutcome http_answer(const WebAnswer& answer);

}  // namespace agw
