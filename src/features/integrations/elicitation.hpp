#pragma once

#include <optional>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The result of `elicitation/create`: what a server asks of the person for whose agent it makes that call. A form is
/// put to that person; without one it is cancelled, and nothing is ever said that no person has seen. Addresses to
/// visit are declined.
Task<json::object> elicited(const ToolCall& call, json::object params, StopSource& stop);

/// What a call is repeated with after its server responded with `input_required` (revision 2026-07-28): the member
/// `inputResponses`, with an answer to each form, and `requestState`, if the server sent it. Forms are put to the
/// person one after another. Null if the server asks for anything else than forms, or for more than 8.
Task<std::optional<json::object>> required_input(const ToolCall& call, const json::object& result, StopSource& stop);

}  // namespace agw
