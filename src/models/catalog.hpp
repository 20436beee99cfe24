#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "io/http/http_client.hpp"
#include "models/model.hpp"
#include "models/prices.hpp"
#include "models/settings.hpp"

namespace agw {

/// A row of `GET /models`, and what a run needs to know about its model.
struct ModelInfo {
  std::string id;        ///< `<provider>/<model>`, as `model` members name it
  std::string provider;  ///< the provider's name
  ServiceSource source = ServiceSource::config;
  std::int64_t context_window = 0;  ///< tokens of prompt and answer together
  std::int64_t max_output_tokens = 0;
  bool vision = false;
  bool tools = true;           ///< false: known to call none
  std::optional<Price> price;  ///< nullopt: unknown
};
const Description& describe(Tag<ModelInfo>);

/// Models that a service listed or its definition names, in that order.
class ModelList {
public:
  explicit ModelList(std::vector<ModelEntry> entries);
  ModelList(const ModelList&) = delete;
  ModelList& operator=(const ModelList&) = delete;

  const std::vector<ModelEntry>& entries() const { return entries_; }
  /// Null if it is not listed.
  const ModelEntry* find(std::string_view id) const;

private:
  const std::vector<ModelEntry> entries_;
  std::unordered_map<std::string_view, const ModelEntry*> by_id_;
};

/// A model to call.
struct ModelChoice {
  Provider* provider = nullptr;  ///< belongs to Models, or to `kept`
  std::string provider_name;
  std::string model;  ///< the id that the provider knows
  std::int64_t output_token_limit = std::numeric_limits<std::int64_t>::max();
  bool takes_tools = true;
  bool takes_pictures = true;  ///< false: its definition or its service says that it takes none
  /// Holds the provider of a service that can change or go while answers run: those under way end on the old one.
  std::shared_ptr<Provider> kept{};

  std::string id() const { return provider_name + "/" + model; }
};

/// Why a named model cannot be called; the message says what to configure.
struct NotConfigured {
  std::string message;
  bool is_gone = false;  ///< its service was deleted or disabled: whoever names it falls back
};

/// The default model, and what chose it.
struct DefaultModel {
  enum class Source { config, settings, automatic };
  std::string id;
  Source source = Source::automatic;
};

/// The built-in provider, which needs no network; `add` registers it.
inline constexpr std::string_view offline_provider = "offline";
inline constexpr std::string_view offline_model = "librarian";

/// The providers of the configuration and those that come and go with extensions, and what is known about their models.
/// Must outlive the runs that use it.
/// Example: src/models/catalog_test.cpp: ModelsTest.ABareIdGoesToTheDefaultModelsProvider
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

  // Services that come and go. One of a name that the configuration or `add` has is not used.

  /// Adds the service, or replaces the one of its name, which keeps its list if `reuse_list`.
  void put(ProviderSettings settings, std::shared_ptr<Provider> provider, bool reuse_list = false);
  /// Removes the service. Models of that name are gone from then on, for the reason given, until it is `put` again.
  void remove(const std::string& name, std::string reason);
  /// The list of a service of any origin.
  void set_list(std::string_view name, std::shared_ptr<const ModelList> list);
  /// The default model that the person has chosen; empty: none.
  void choose_default(std::string id);

  /// The settings of the services of the configuration; `problem` says which cannot be used.
  std::vector<ProviderSettings> configured() const;
  /// Whether a service of that name can be called.
  bool has(std::string_view name) const;
  /// Whether the configuration or the gateway itself has the name, so that no extension can.
  bool is_reserved(std::string_view name) const;
  /// Whether the service is known to have the model; nothing where it has not listed its models.
  std::optional<bool> lists(std::string_view name, std::string_view model) const;

  /// Finds the model of `reference`: `<provider>/<model>`, where the prefix is the name of a configured provider or a
  /// kind (then the first provider of that kind), or a model id of the default model's provider. Empty: the default
  /// model.
  std::variant<ModelChoice, NotConfigured> resolve(std::string_view reference) const;

  /// Why `reference` names no model of a service that it names too, as `<service>/<model>`; empty if it does.
  std::string service_problem(std::string_view reference) const;

  /// The models that a program gets if `choice` fails: those that its service names and that can be called.
  std::vector<ModelChoice> fallbacks_of(const ModelChoice& choice) const;

  /// Returns the `references` that can be called, and logs the others.
  std::vector<ModelChoice> resolve_fallbacks(const std::vector<std::string>& references) const;

  /// Returns `models.default`, else what the person has chosen if its service is there, else the first provider's
  /// default, those of the configuration first, else `offline/librarian`.
  std::string default_model() const { return find_default().id; }
  DefaultModel find_default() const;

  /// Another number whenever `list` may have changed.
  std::uint64_t revision() const { return revision_; }
  /// Returns the models of the configured providers in order, each provider's default model first.
  std::vector<ModelInfo> list() const;
  ModelInfo info(const ModelChoice& choice) const { return info(choice.provider_name, choice.model); }
  ModelInfo info(std::string_view provider, std::string_view model) const;

  /// Returns the cost of a call in USD, or nullopt if the model has no price.
  std::optional<double> cost(std::string_view provider, std::string_view model, const Usage& usage) const;

private:
  struct Entry {
    ProviderSettings settings;           ///< without its models
    std::shared_ptr<Provider> provider;  ///< null if it cannot be used
    bool is_service = true;              ///< false if `add` registered it
    std::shared_ptr<const ModelList> list{};
    std::unique_ptr<const ModelList> defined = std::make_unique<const ModelList>(std::exchange(settings.models, {}));
    ModelInfo unknown = unknown_model(settings);  ///< what holds for a model of which nothing is known

    bool is_extension() const { return settings.source == ServiceSource::extension; }
    bool is_model_service() const { return is_service && provider && !is_extension(); }
    /// The definition's default, else the first model that it or the service names; may be empty.
    std::string default_model() const;
    /// The definition's entry for the model; null if there is none.
    const ModelEntry* described(std::string_view model) const { return defined->find(model); }
    const ModelEntry* listed(std::string_view model) const { return list ? list->find(model) : nullptr; }
    /// Whether that is said of it. Of most models nothing is known, and those may take pictures.
    bool refuses_pictures(std::string_view model) const;
  };

  static ModelInfo unknown_model(const ProviderSettings& settings);
  const Entry* find(std::string_view name) const;
  const Entry* find_kind(std::string_view kind) const;
  std::optional<Price> price(const Entry* entry, std::string_view provider, std::string_view model) const;
  std::variant<ModelChoice, NotConfigured> choose(const Entry* entry, std::string_view model) const;

  std::vector<std::string_view> model_ids(const Entry& entry, const ModelChoice* preferred) const;
  std::optional<std::string> automatic_default() const;

  std::vector<Entry> entries_;
  std::uint64_t revision_ = 0;
  std::map<std::string, std::string, std::less<>> gone_;  ///< names of services that are not there, and why
  std::string default_model_;
  std::string chosen_default_;
  Prices prices_;
};

}  // namespace agw
