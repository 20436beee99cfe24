#pragma once

#include <optional>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "tools/tool.hpp"

namespace agw {

/// Handles `elicitation/create`, by which a server asks the person of a call for input. Shows the form to that person
/// and returns the result. Without a person the form is cancelled: nothing is answered in a person's name. Addresses to
/// visit are declined.
Task<json::object> elicit(const ToolCall& call, json::object params, StopSource& stop);

/// The parameters to add to a call after its server responded with `input_required` (revision 2026-07-28):
/// `inputResponses`, with an answer to each form, and `requestState`, if the server sent it. The person gets one form
/// after the other. No value if the server asks for anything but forms, or for more than 8.
Task<std::optional<json::object>> required_input(const ToolCall& call, const json::object& result, StopSource& stop);

}  // namespace agw
