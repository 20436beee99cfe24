#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe/enum.hpp>
#include <boost/describe/enum_to_string.hpp>

#include "config/environment.hpp"
#include "io/http/http_client.hpp"
#include "models/model_entry.hpp"

namespace agw {

struct Settings;

/// The APIs that the gateway can call, named as in the configuration.
enum class ProviderKind { anthropic, openai, ollama, gemini };
BOOST_DESCRIBE_ENUM(ProviderKind, anthropic, openai, ollama, gemini)

/// Which of OpenAI's two APIs to use. OpenAI's newer models accept tools only in Responses; most compatible servers
/// implement only Chat Completions.
enum class OpenAiApi { responses, chat };
BOOST_DESCRIBE_ENUM(OpenAiApi, responses, chat)

/// The origin of a model service.
enum class ServiceSource {
  environment,  ///< a variable such as ANTHROPIC_API_KEY
  config,       ///< `providers:` of config.yaml
  extension,    ///< an extension of the type `integration`
  built_in,     ///< the gateway itself
};
std::span<const EnumName> names(Tag<ServiceSource>);

/// A model service: an entry of `providers:` in the configuration, one from the environment, or an extension.
struct ProviderSettings {
  std::string name{};  ///< as in `<provider>/<model>`
  ProviderKind kind = ProviderKind::openai;
  /// Empty: the service's own. May have a query, and `{model}` as a placeholder for a model's id.
  std::string base_url{};
  std::string api_key{};              ///< the key itself; empty: none is sent
  std::vector<HttpHeader> headers{};  ///< added to every request
  std::optional<OpenAiApi> api{};     ///< unset: `responses` if the base URL is OpenAI's own, else `chat`
  std::string default_model{};        ///< empty: the default of the kind
  /// `<service>/<model>`, tried in order if a program's call fails. Agents have their own.
  std::vector<std::string> fallback_models{};
  std::string problem{};  ///< why it cannot be used, and what to configure; empty if it can
  ServiceSource source = ServiceSource::config;
  std::vector<ModelEntry>
      models{};              ///< the models that its definition describes; take precedence over all other sources
  bool public_only = false;  ///< connects to public addresses only, because an agent chose the address
  bool no_metadata = false;  ///< does not connect to metadata services of clouds
};

/// The configuration's `models:`, and all providers.
struct ModelSettings {
  std::vector<ProviderSettings> providers{};
  std::string default_model{};  ///< `models.default`; empty: the first provider's, else `offline/librarian`
  /// How long a provider may send nothing until its connection is considered broken.
  std::chrono::milliseconds idle_timeout{120'000};
};

std::string_view to_string(ProviderKind kind);

/// Fills in empty members with the defaults of the kind, and normalizes the URL and the key.
ProviderSettings complete(ProviderSettings settings);

/// Returns `base_url` with `path` appended to its path, before the query, and `{model}` replaced by the model's id.
std::string service_url(std::string_view base_url, std::string_view path, std::string_view model = {});

/// Whether the URL is Anthropic's own service.
bool is_anthropic_service(std::string_view base_url);

/// Whether the URL is OpenAI's own service, whose newer models have other requirements than compatible servers.
bool is_openai_service(std::string_view base_url);

/// Returns the model services in the settings, with their keys. A service whose key cannot be read is left out; the log
/// states why and what to do.
ModelSettings configured_models(const Settings& settings, const Environment& environment);

}  // namespace agw
