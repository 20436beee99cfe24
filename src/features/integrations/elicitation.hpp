#pragma once

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The result of `elicitation/create`: what a server asks of the person for whose agent it makes that call. A form is
/// put to that person; without one it is cancelled, and nothing is ever said that no person has seen. Addresses to
/// visit are declined.
Task<json::object> elicited(const ToolCall& call, json::object params, StopSource& stop);

}  // namespace agw
