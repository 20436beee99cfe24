#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "features/context/attached_files.hpp"
#include "features/context/thoughts.hpp"
#include "features/extensions/types.hpp"
#include "features/threads/types.hpp"
#include "models/catalog.hpp"
#include "models/model.hpp"

namespace agw {

/// Text in any language rarely has fewer bytes per token. It is better to overestimate tokens than to be refused.
inline constexpr std::int64_t bytes_per_token = 3;

/// How many bytes of messages fit a model's window in addition to its answer and a prompt of `prompt_tokens`, tools
/// included.
std::size_t context_budget(const ModelInfo& model, std::int64_t max_output_tokens, std::int64_t prompt_tokens);

/// The inverse of `context_budget`: the window, in tokens, that has this budget.
std::int64_t window_of(std::size_t context_budget, std::int64_t max_output_tokens, std::int64_t prompt_tokens);

/// The maximum tokens of an answer: the lower of the agent's limit and the model's.
std::int64_t output_limit(const Extension& agent, const ModelInfo& model);

/// The message of a user or system turn, with its files. No value for an empty turn, which models are not shown. `text`
/// replaces the turn's text.
std::optional<Message> user_message(const Turn& turn, const std::optional<std::string>& text,
                                    const AttachedFiles& files);

/// The request for an answer of `agent` to the last of `turns`, which are oldest first, without system prompt (see
/// prompt.hpp) and tools. `message` replaces the text of the last turn. `files` and `thoughts` belong to the turns.
ModelRequest model_request(const Extension& agent, const std::vector<Turn>& turns,
                           const std::optional<std::string>& message, const AttachedFiles& files,
                           const AnswerThoughts& thoughts = {});

/// Removes the pictures from the results of a step. Returns the first `limit` of them in a message to send after the
/// results, because not all services accept pictures in results. No value if there are none.
std::optional<Message> extract_pictures(std::vector<Message>& results, std::size_t limit);

}  // namespace agw
