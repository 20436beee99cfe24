#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/model.hpp"
#include "models/settings.hpp"

namespace agw {

/// What a call may ask for and not every service can do: its name in each protocol, empty where no request can ask for
/// it, and who can do it.
struct CallFeature {
  std::string_view chat;       ///< the parameter in OpenAI's Chat Completions
  std::string_view responses;  ///< in OpenAI's Responses
  std::string_view messages;   ///< in Anthropic's Messages
  bool (*is_asked)(const ModelRequest& request);
  // Who can do it.
  bool by_anthropic = false;
  bool by_chat = false;
  bool by_responses = false;
  bool by_ollama = false;
  bool by_gemini = false;
  bool by_agents = false;  ///< as far as their model can
};

/// The table; docs/contract/clients.md shows it.
std::span<const CallFeature> call_features();

/// The first of the table that the request asks for and the service cannot do; null if it can do all.
/// Example: src/models/call_features_test.cpp: CallFeatures.NameWhatAServiceCannotDo
const CallFeature* unsupported_feature(const ModelRequest& request, const ProviderSettings& settings);

/// How much a model should reason, for services that know levels: as asked, or the level nearest to the budget.
std::optional<std::string> reasoning_effort(const CallOptions& options);
/// The same in tokens, for services that know budgets; 0: not at all.
std::optional<std::int64_t> reasoning_budget(const CallOptions& options);

}  // namespace agw
