#pragma once

#include <vector>

#include "features/engine/attached.hpp"
#include "features/extensions/types.hpp"
#include "features/threads/types.hpp"
#include "models/catalog.hpp"
#include "models/model.hpp"

namespace agw {

/// Text of any language has seldom fewer; a little too careful is better than a refused request.
inline constexpr std::int64_t bytes_per_token = 3;

/// How many bytes of turns fit the window of a model beside its answer and a prompt, tools included, of that size.
std::size_t context_budget(const ModelInfo& model, std::int64_t max_output_tokens, std::int64_t prompt_tokens);

/// The window of which `context_budget` would make that budget.
std::int64_t window_of(std::size_t context_budget, std::int64_t max_output_tokens, std::int64_t prompt_tokens);

/// The tokens that an agent may answer with: its own limit, within the model's.
std::int64_t output_limit(const Extension& agent, const ModelInfo& model);

/// What a model is asked for an answer of `agent` to the last of `turns`, which are oldest first; the system prompt is
/// put together elsewhere (prompt.hpp). `message`, where given, is what the model reads instead of that turn's text.
/// `files` are those of the turns.
ModelRequest model_request(const Extension& agent, const std::vector<Turn>& turns,
                           const std::optional<std::string>& message, const AttachedFiles& files);

}  // namespace agw
