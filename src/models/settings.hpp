#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/describe/enum.hpp>
#include <boost/describe/enum_to_string.hpp>

namespace agw {

/// The families of services that the gateway speaks to; their names are what the configuration calls them.
enum class ProviderKind { anthropic, openai, ollama };
BOOST_DESCRIBE_ENUM(ProviderKind, anthropic, openai, ollama)

/// Which of OpenAI's two interfaces to use. OpenAI's newer models take tools only through Responses; compatible servers
/// mostly know only Chat Completions.
enum class OpenAiApi { responses, chat };
BOOST_DESCRIBE_ENUM(OpenAiApi, responses, chat)

/// A model service to use: an entry of `providers:` in the configuration, or one that the environment describes.
struct ProviderSettings {
  std::string name{};  ///< what `<provider>/<model>` calls it
  ProviderKind kind = ProviderKind::openai;
  std::string base_url{};          ///< empty: the service's own
  std::string api_key{};           ///< the key itself; empty: none is sent
  std::optional<OpenAiApi> api{};  ///< unset: `responses` where the base URL is OpenAI's own, else `chat`
  std::string default_model{};     ///< empty: the kind's
  std::string problem{};           ///< why it cannot be used, and what to set; empty where it can
};

/// Of the configuration's `models:`, and all providers.
struct ModelSettings {
  std::vector<ProviderSettings> providers{};
  std::string default_model{};  ///< `models.default`; empty: the first provider's, else `offline/librarian`
  /// How long a provider may send nothing before its connection counts as broken.
  std::chrono::milliseconds silence_limit{120'000};
};

std::string_view to_string(ProviderKind kind);

/// `settings` with what was left empty filled in by the kind's defaults, and its URL and key made tidy.
ProviderSettings complete(ProviderSettings settings);

/// Whether the URL is OpenAI's own service, whose newer models differ from what compatible servers offer.
bool is_openais_own(std::string_view base_url);

}  // namespace agw
