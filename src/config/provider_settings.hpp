#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/environment.hpp"

namespace agw {

/// A model service as it is configured. Empty members were not given: the provider's kind has a default for them.
struct ConfiguredProvider {
  std::string name = {};  ///< what stands before the `/` of a model
  std::string kind = {};  ///< `anthropic`, `openai` or `ollama`
  std::string base_url = {};
  std::string api_key_env = {};  ///< never together with `api_key_file`
  std::filesystem::path api_key_file = {};
  std::string api = {};  ///< `responses` or `chat`, for the kind `openai`
  std::string default_model = {};
  std::string problem = {};  ///< what of the environment keeps it from being used; it then has no key
};

/// Puts what `ANTHROPIC_API_KEY`, `OPENAI_BASE_URL`, `OLLAMA_HOST` and the like say into the providers of those names,
/// behind the others where there are none yet.
void apply_environment(std::vector<ConfiguredProvider>& providers, const Environment& environment);

/// A provider's key. Where one is asked for and cannot be had, `problem` says why, without the key and without the
/// provider's name; the provider then stays unconfigured. Both are empty where none is asked for.
struct ApiKey {
  std::string value;
  std::string problem;
};

/// Reads the key from where the settings say that it is. A provider of the kinds `anthropic` and `openai` that says
/// neither, at its vendor's own address, takes the variable that is usual for the kind.
ApiKey read_api_key(const ConfiguredProvider& provider, const Environment& environment);

}  // namespace agw
