#pragma once

#include <optional>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "tools/tool.hpp"

namespace agw {

/// Handles `elicitation/create`, by which a server asks the person of a call for input. Shows the form to that person
/// and returns the result. Without a person, cancels the form, because nothing may be answered in a person's name.
/// Declines requests to visit an address.
Task<json::object> elicit(const ToolCall& call, json::object params, StopSource& stop);

/// The parameters to add to a call after its server responded with `input_required` (revision 2026-07-28):
/// `inputResponses`, with an answer to each form, and `requestState`, if the server sent it. Shows the forms one after
/// the other. No value if the server requests anything but forms, or more than 8.
Task<std::optional<json::object>> required_input(const ToolCall& call, const json::object& result, StopSource& stop);

}  // namespace agw
