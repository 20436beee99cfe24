#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/describe/enum.hpp>
#include <boost/describe/enum_to_string.hpp>

namespace agw {

/// The APIs that the gateway can call, named as in the configuration.
enum class ProviderKind { anthropic, openai, ollama };
BOOST_DESCRIBE_ENUM(ProviderKind, anthropic, openai, ollama)

/// Which of OpenAI's two APIs to use. OpenAI's newer models accept tools only in Responses; most compatible servers
/// implement only Chat Completions.
enum class OpenAiApi { responses, chat };
BOOST_DESCRIBE_ENUM(OpenAiApi, responses, chat)

/// A model service: an entry of `providers:` in the configuration, or one from the environment.
struct ProviderSettings {
  std::string name{};  ///< as in `<provider>/<model>`
  ProviderKind kind = ProviderKind::openai;
  std::string base_url{};          ///< empty: the service's own
  std::string api_key{};           ///< the key itself; empty: none is sent
  std::optional<OpenAiApi> api{};  ///< unset: `responses` if the base URL is OpenAI's own, else `chat`
  std::string default_model{};     ///< empty: the kind's
  std::string problem{};           ///< why it cannot be used, and what to configure; empty if it can
};

/// The configuration's `models:`, and all providers.
struct ModelSettings {
  std::vector<ProviderSettings> providers{};
  std::string default_model{};  ///< `models.default`; empty: the first provider's, else `offline/librarian`
  /// How long a provider may send nothing before the connection counts as broken.
  std::chrono::milliseconds idle_timeout{120'000};
};

std::string_view to_string(ProviderKind kind);

/// Fills in what is empty with the defaults of the kind, and tidies the URL and the key.
ProviderSettings complete(ProviderSettings settings);

/// Whether the URL is OpenAI's own service, whose newer models differ from those of compatible servers.
bool is_openai_service(std::string_view base_url);

}  // namespace agw
