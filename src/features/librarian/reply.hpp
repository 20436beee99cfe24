#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "features/librarian/search_words.hpp"
#include "features/librarian/types.hpp"
#include "models/model.hpp"

namespace agw {

// What the librarian says, in Markdown. The bodies are without the label.

/// How every reply begins.
inline constexpr std::string_view librarian_label = "**Offline librarian:** ";

/// The whole reply: the label and the body; the first one of a thread says what the librarian is and how to connect a
/// model.
std::string reply(std::string_view body, bool is_first);

/// Three messages to try, each of which works with the tools that are `offered`.
std::vector<std::string> suggestions(const std::vector<ToolDescription>& offered);

/// What the librarian does without a model, and at the end the messages to try.
std::string explanation(const std::vector<std::string>& suggestions);

/// The person's earlier messages, a sentence each. `messages` ends with the request for it.
std::string summary(const std::vector<Message>& messages);

/// What is said to a note that was kept.
std::string acknowledgement(std::string_view note);

/// Quotes what was found; `passages` is not empty.
std::string quotations(const std::vector<Passage>& passages, const std::vector<std::string>& words, Match match);

/// What came of a tool that was asked for. `use` is the call, `result` its tool message.
std::string tool_answer(const ToolUse& use, const Message& result);

/// `searched` names what was searched.
std::string not_found(const std::vector<std::string>& words, const std::vector<std::string>& searched);

}  // namespace agw
