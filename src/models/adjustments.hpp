#pragma once

#include <cstddef>
#include <string_view>

#include "base/json/json.hpp"
#include "models/model.hpp"

namespace agw {

// Changes to a written request that a service has refused. Each returns whether it changed anything.

/// Fits the limit of output tokens to the numbers of a refusal: to the model's own limit, or to what its window leaves
/// for the answer. If that is less than 1,024 tokens, the conversation is too long, and nothing changes. A limit below
/// the service's minimum becomes that.
/// Example: src/models/adjustments_test.cpp: FitLimit.LeavesTheAnswerWhatTheInputLeaves
bool fit_limit(json::object& request, std::string_view refusal);

/// Replaces a level of reasoning that not all models have, in any API: `minimal` by `low`, `xhigh` and `max` by `high`.
bool fit_effort(json::object& request);

/// Removes the request to think, in any API.
bool leave_out_thinking(json::object& request);

/// Removes the tools and what the request says of them, in any API.
bool leave_out_tools(json::object& request);

/// Joins consecutive messages of the same role that have no calls, and results with a text of the user after them.
bool join_messages(json::array& messages);

/// Turns the system prompt, the first message, into the beginning of the user's first message.
bool move_prompt_to_user(json::array& messages);

/// Replaces contents that are null by empty texts.
bool fill_contents(json::array& messages);

/// Has the user ask to continue, if the assistant has the last word. `content` is the form of that message's content.
bool ask_to_continue(json::array& messages, json::value content);

/// Replaces ids of calls that are longer than `size`, everywhere in the request, the same by the same each time.
bool shorten_ids(json::object& request, std::size_t size);
/// The same for ids that are not nine letters and digits.
bool shorten_ids_to_nine(json::object& request);

/// Replaces PDFs by texts, for models that take none: in a request of any API, or before it is written.
/// Example: src/models/adjustments_test.cpp: LeaveOutDocuments.PutsATextInTheirPlace
bool leave_out_documents(json::object& request);
void leave_out_documents(Message& message);

}  // namespace agw
