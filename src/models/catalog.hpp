#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/http/http_client.hpp"
#include "models/model.hpp"
#include "models/prices.hpp"
#include "models/settings.hpp"

namespace agw {

/// A row of `GET /models`, and what a run needs to know about its model.
struct ModelInfo {
  std::string id;                   ///< `<provider>/<model>`, as `model` members name it
  std::string provider;             ///< the provider's name
  std::int64_t context_window = 0;  ///< tokens of prompt and answer together
  std::int64_t max_output_tokens = 0;
  bool vision = false;
  std::optional<Price> price;  ///< nullopt: unknown
};
const Description& describe(Tag<ModelInfo>);

/// A model to call. The provider belongs to Models.
struct ModelChoice {
  Provider* provider = nullptr;
  std::string provider_name;
  std::string model;  ///< the id that the provider knows
  std::int64_t output_token_limit = std::numeric_limits<std::int64_t>::max();

  std::string id() const { return provider_name + "/" + model; }
};

/// Why a named model cannot be called; the message says what to configure.
struct NotConfigured {
  std::string message;
};

/// The built-in provider, which needs no network; `add` registers it.
inline constexpr std::string_view offline_provider = "offline";
inline constexpr std::string_view offline_model = "librarian";

/// The configured providers, and what is known about their models. Must outlive the runs that use it.
class Models {
public:
  /// If two providers have the same name, the first is used. `http` must outlive it.
  Models(HttpClient& http, ModelSettings settings, Prices prices);
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  /// Registers a provider that is not a model service, such as `offline`, and costs nothing.
  void add(std::string name, std::unique_ptr<Provider> provider,
           std::string default_model = std::string(offline_model));

  /// Finds the model of `reference`: `<provider>/<model>`, where the prefix is the name of a configured provider or a
  /// kind (then the first provider of that kind), or a model id of the default model's provider. Empty: the default
  /// model.
  std::variant<ModelChoice, NotConfigured> resolve(std::string_view reference) const;

  /// Returns the `references` that can be called, and logs the others.
  std::vector<ModelChoice> resolve_fallbacks(const std::vector<std::string>& references) const;

  /// Returns `models.default`, else the first configured provider's default, else `offline/librarian`.
  std::string default_model() const;

  /// Returns the models of the configured providers in order, each provider's default model first.
  std::vector<ModelInfo> list() const;
  ModelInfo info(const ModelChoice& choice) const { return info(choice.provider_name, choice.model); }
  ModelInfo info(std::string_view provider, std::string_view model) const;

  /// Returns the cost of a call in USD, or nullopt if the model has no price.
  std::optional<double> cost(std::string_view provider, std::string_view model, const Usage& usage) const;

private:
  struct Entry {
    ProviderSettings settings;
    std::unique_ptr<Provider> provider;  ///< null if it cannot be used
    bool is_service = true;              ///< false if `add` registered it

    bool is_model_service() const { return is_service && provider; }
  };

  const Entry* find(std::string_view name) const;
  const Entry* find_kind(std::string_view kind) const;
  std::optional<Price> price(const Entry* entry, std::string_view provider, std::string_view model) const;
  std::variant<ModelChoice, NotConfigured> choose(const Entry* entry, std::string_view model) const;

  std::vector<Entry> entries_;
  std::string default_model_;
  Prices prices_;
};

}  // namespace agw
