#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/http_client.hpp"
#include "models/model.hpp"
#include "models/prices.hpp"
#include "models/settings.hpp"

namespace agw {

/// A row of `GET /models`, and what a run must know of its model.
struct ModelInfo {
  std::string id;                   ///< `<provider>/<model>`, as `model` members name it
  std::string provider;             ///< the provider's name
  std::int64_t context_window = 0;  ///< tokens of prompt and answer together
  std::int64_t max_output_tokens = 0;
  bool vision = false;
  std::optional<Price> price;  ///< nothing: unknown
};
const Description& describe(Tag<ModelInfo>);

/// A model to call. Borrows the provider from Models.
struct ModelChoice {
  Provider* provider = nullptr;
  std::string provider_name;
  std::string model;  ///< the id that the provider knows
  std::int64_t most_output_tokens = std::numeric_limits<std::int64_t>::max();

  std::string id() const { return provider_name + "/" + model; }
};

/// A model that was named cannot be called; the message says what to set.
struct NotConfigured {
  std::string message;
};

/// The embedded provider, which needs no network; it is registered by `add`.
inline constexpr std::string_view offline_provider = "offline";
inline constexpr std::string_view offline_model = "librarian";

/// The providers that are configured, and what is known of their models. Lives as long as the runs that use it.
class Models {
public:
  /// Of two providers with one name the first counts. `http` must outlive it.
  Models(HttpClient& http, ModelSettings settings, Prices prices);
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  /// Registers a provider that is no model service, such as `offline`; it costs nothing.
  void add(std::string name, std::unique_ptr<Provider> provider,
           std::string default_model = std::string(offline_model));

  /// What `reference` names: `<provider>/<model>` where the prefix is the name of a configured provider or a kind (then
  /// the first provider of that kind), or else an id of the default model's provider. Empty: the default model.
  std::variant<ModelChoice, NotConfigured> resolve(std::string_view reference) const;

  /// Those of `references` that can be called; the others are logged.
  std::vector<ModelChoice> resolve_fallbacks(const std::vector<std::string>& references) const;

  /// `models.default`, else the first configured provider's, else `offline/librarian`.
  std::string default_model() const;

  /// What is configured, in order, each provider's default model first.
  std::vector<ModelInfo> list() const;
  ModelInfo info(const ModelChoice& choice) const { return info(choice.provider_name, choice.model); }
  ModelInfo info(std::string_view provider, std::string_view model) const;

  /// What a call cost in USD; nothing where the model has no price.
  std::optional<double> cost(std::string_view provider, std::string_view model, const Usage& usage) const;

private:
  struct Entry {
    ProviderSettings settings;
    std::unique_ptr<Provider> provider;  ///< null where it cannot be used
    bool is_service = true;              ///< false for what `add` registered

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
