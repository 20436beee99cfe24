#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/model.hpp"
#include "models/settings.hpp"

namespace agw {

/// A feature that a request may use and that not every service has: its parameter name in each protocol (empty if the
/// protocol has none), and the services that have it.
struct CallFeature {
  std::string_view chat;       ///< the parameter in OpenAI's Chat Completions
  std::string_view responses;  ///< in OpenAI's Responses
  std::string_view messages;   ///< in Anthropic's Messages
  bool (*is_asked)(const ModelRequest& request);
  // The services that have it.
  bool by_anthropic = false;
  bool by_chat = false;
  bool by_responses = false;
  bool by_ollama = false;
  bool by_gemini = false;
  bool by_agents = false;  ///< if their model has it
};

/// The table; docs/contract/clients.md shows it.
std::span<const CallFeature> call_features();

/// Returns the first feature in the table that the request uses and the service lacks; null if it has all of them.
/// Example: src/models/call_features_test.cpp: CallFeatures.NameWhatAServiceCannotDo
const CallFeature* unsupported_feature(const ModelRequest& request, const ProviderSettings& settings);

/// The members of Chat Completions by which programs tell servers of open models whether to think: labels
/// (CallOptions::labels) for services of that API alone.
inline constexpr std::array<std::string_view, 4> thinking_labels{"thinking", "enable_thinking", "thinking_budget",
                                                                 "chat_template_kwargs"};

/// Sampling settings of servers of open models, and the values that do nothing: labels, too.
struct SamplingLabel {
  std::string_view name;
  double neutral;
  std::string_view of_ollama;  ///< its name there; empty: Ollama has none
};
inline constexpr std::array<SamplingLabel, 5> sampling_labels{{{"min_p", 0, "min_p"},
                                                               {"top_a", 0, ""},
                                                               {"typical_p", 1, "typical_p"},
                                                               {"repetition_penalty", 1, "repeat_penalty"},
                                                               {"repeat_penalty", 1, "repeat_penalty"}}};

/// Whether the arguments of a tool must follow its schema exactly.
bool has_strict_tool(const ModelRequest& request);

/// How much a model should reason, for services with levels: the requested level, or the one nearest to the requested
/// budget.
std::optional<std::string> reasoning_effort(const CallOptions& options);
/// The same in tokens, for services with budgets; 0 turns reasoning off.
std::optional<std::int64_t> reasoning_budget(const CallOptions& options);
/// Whether the model decides itself how long it thinks, as Claude does since 4.6: `claude-sonnet-5`, `claude-opus-4-6`.
bool thinks_adaptively(std::string_view model);

}  // namespace agw
