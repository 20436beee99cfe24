#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "features/librarian/search_words.hpp"
#include "features/librarian/types.hpp"
#include "models/model.hpp"

namespace agw {

// The librarian's texts, in Markdown. The bodies do not include the label.

/// The beginning of every reply.
inline constexpr std::string_view librarian_label = "**Offline librarian:** ";

/// The complete reply: label and body. The first one in a thread explains what the librarian is and how to connect a
/// model.
std::string reply(std::string_view body, bool is_first);

/// Returns three messages to try, each of which works with the `offered` tools.
std::vector<std::string> suggestions(const std::vector<ToolDescription>& offered);

/// Describes what the librarian can do without a model, with example messages at the end.
std::string explanation(const std::vector<std::string>& suggestions);

/// Summarises the person's earlier messages, one sentence of each. `messages` ends with the request for the summary.
std::string summary(const std::vector<Message>& messages);

/// The reply to a note that was stored.
std::string acknowledgement(std::string_view note);

/// Quotes the passages; there must be at least one.
std::string quotations(const std::vector<Passage>& passages, const std::vector<std::string>& words, Match match);

/// Reports the result of a tool call. `use` is the call, `result` its tool message.
std::string tool_answer(const ToolUse& use, const Message& result);

/// `searched` names the sources that were searched.
std::string not_found(const std::vector<std::string>& words, const std::vector<std::string>& searched);

}  // namespace agw
