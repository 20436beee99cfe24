#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/environment.hpp"

namespace agw {

/// The configuration of a model service. Empty members were not set; the provider's kind has defaults for them.
struct ConfiguredProvider {
  std::string name = {};  ///< the part before the `/` in a model's name
  std::string kind = {};  ///< `anthropic`, `openai` or `ollama`
  std::string base_url = {};
  std::string api_key_env = {};  ///< mutually exclusive with `api_key_file`
  std::filesystem::path api_key_file = {};
  std::string api = {};  ///< `responses` or `chat`, for the kind `openai`
  std::string default_model = {};
  std::vector<std::string> fallback_models = {};  ///< see ProviderSettings
  bool is_from_environment = false;               ///< only variables configure it, not the file
  std::string problem = {};  ///< why it is unusable because of an environment variable; it then has no key
};

/// Applies `ANTHROPIC_API_KEY`, `OPENAI_BASE_URL`, `OLLAMA_HOST` and similar variables to the providers of those names,
/// and appends missing providers.
void apply_environment(std::vector<ConfiguredProvider>& providers, const Environment& environment);

/// A provider's API key. If a required key is unavailable, `problem` states why, without the key and the provider's
/// name; the provider is then unconfigured. Both are empty if no key is required.
struct ApiKey {
  std::string value;
  std::string problem;
};

/// Reads the key from its configured source. A provider of the kind `anthropic` or `openai` without a configured source
/// uses the standard variable of its kind, if its address is the vendor's own.
ApiKey read_api_key(const ConfiguredProvider& provider, const Environment& environment);

}  // namespace agw
