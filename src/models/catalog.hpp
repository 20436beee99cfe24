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
#include "io/process/blocking.hpp"
#include "models/model.hpp"
#include "models/prices.hpp"
#include "models/settings.hpp"

namespace agw {

/// A row of `GET /models`, and what a run needs to know about its model.
struct ModelInfo {
  std::string id;        ///< `<provider>/<model>`, as in `model` members
  std::string provider;  ///< the provider's name
  ServiceSource source = ServiceSource::config;
  std::int64_t context_window = 0;  ///< tokens of prompt and answer together
  std::int64_t max_output_tokens = 0;
  bool is_max_output_assumed = true;  ///< false: the model's definition, its service or our own list states it
  bool vision = false;
  bool tools = true;           ///< false: known not to support tool calls
  std::optional<Price> price;  ///< nullopt: unknown
};
const Description& describe(Tag<ModelInfo>);

/// The models that a service lists or its definition describes, in that order.
class ModelList {
public:
  explicit ModelList(std::vector<ModelEntry> entries);
  ModelList(const ModelList&) = delete;
  ModelList& operator=(const ModelList&) = delete;

  const std::vector<ModelEntry>& entries() const { return entries_; }
  /// Returns null if the model is not listed.
  const ModelEntry* find(std::string_view id) const;

private:
  const std::vector<ModelEntry> entries_;
  std::unordered_map<std::string_view, const ModelEntry*> by_id_;
};

/// A model to call.
struct ModelChoice {
  Provider* provider = nullptr;  ///< owned by Models or by `kept`
  std::string provider_name;
  std::string model;  ///< the id that the provider knows
  std::int64_t output_token_limit = std::numeric_limits<std::int64_t>::max();
  bool is_limit_assumed = false;  ///< see ModelInfo::is_max_output_assumed
  bool takes_tools = true;
  bool takes_pictures = true;    ///< false: its definition or its service rules them out
  std::optional<Price> price{};  ///< as it was when the model was chosen; nullopt: unknown
  /// Keeps the provider of a service alive after the service changes or is removed, so that active answers can finish
  /// on it.
  std::shared_ptr<Provider> kept{};

  std::string id() const { return provider_name + "/" + model; }
};

/// Why a named model cannot be called; the message says what to configure.
struct NotConfigured {
  std::string message;
  bool is_gone = false;  ///< its service was deleted or disabled, so callers fall back to another model
};

/// The default model and its source.
struct DefaultModel {
  enum class Source { config, settings, automatic };
  std::string id;
  Source source = Source::automatic;
};

/// The built-in provider, which needs no network; `add` registers it.
inline constexpr std::string_view offline_provider = "offline";
inline constexpr std::string_view offline_model = "librarian";

/// The model services of the configuration, those that extensions add and remove at run time, and the known facts about
/// their models. Must outlive the runs that use it.
/// Example: src/models/catalog_test.cpp: ModelsTest.ABareIdGoesToTheDefaultModelsProvider
class Models {
public:
  /// If two providers have the same name, the first is used. `http` and `blocking` must outlive it.
  Models(HttpClient& http, BlockingPool& blocking, ModelSettings settings, Prices prices);
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  /// Registers a provider that is free of charge and not a model service, such as `offline`.
  void add(std::string name, std::unique_ptr<Provider> provider,
           std::string default_model = std::string(offline_model));

  // Services that are added and removed at run time. Names of the configuration and of `add` take precedence.

  /// Adds the service, or replaces the one with the same name. `reuse_list` keeps the old one's list of models.
  void put(ProviderSettings settings, std::shared_ptr<Provider> provider, bool reuse_list = false);
  /// Removes the service. Until it is `put` again, its models are reported as gone, with this reason.
  void remove(const std::string& name, std::string reason);
  /// Sets the list of models of any service.
  void set_list(std::string_view name, std::shared_ptr<const ModelList> list);
  /// Sets the default model that the person has chosen; empty for none.
  void choose_default(std::string id);

  /// The settings of the services of the configuration; `problem` is set for those that cannot be used.
  std::vector<ProviderSettings> configured() const;
  /// Whether there is a usable service with that name.
  bool has(std::string_view name) const;
  /// Whether the configuration or the gateway itself uses the name, which makes it unavailable to extensions.
  bool is_reserved(std::string_view name) const;
  /// Whether the service lists the model; nullopt if its list is not known.
  std::optional<bool> lists(std::string_view name, std::string_view model) const;

  /// Finds the model of `reference`: `<provider>/<model>`, or the id of a model of the default model's provider.
  /// `<provider>` is the name of a configured provider, or a kind, which means the first provider of that kind. An
  /// empty `reference` means the default model.
  std::variant<ModelChoice, NotConfigured> resolve(std::string_view reference) const;

  /// If `reference` is `<service>/<model>` and the service has no such model, returns the reason; else an empty string.
  std::string service_problem(std::string_view reference) const;

  /// The models to try for a program if `choice` fails: the usable ones among those that its service specifies.
  std::vector<ModelChoice> fallbacks_of(const ModelChoice& choice) const;

  /// Returns the usable ones of `references`, and logs the others.
  std::vector<ModelChoice> resolve_fallbacks(const std::vector<std::string>& references) const;

  /// Returns the first that exists of: `models.default`; the person's choice, if its service exists; the default of the
  /// first provider, those of the configuration first; `offline/librarian`.
  std::string default_model() const { return find_default().id; }
  DefaultModel find_default() const;

  /// Changes whenever `list` may have changed.
  std::uint64_t revision() const { return revision_; }
  /// Returns the models of the configured providers in order, each provider's default model first.
  std::vector<ModelInfo> list() const;
  ModelInfo info(const ModelChoice& choice) const { return info(choice.provider_name, choice.model); }
  ModelInfo info(std::string_view provider, std::string_view model) const;

private:
  struct Entry {
    ProviderSettings settings;           ///< without its models
    std::shared_ptr<Provider> provider;  ///< null if the service cannot be used
    bool is_service = true;              ///< false if `add` registered it
    std::shared_ptr<const ModelList> list{};
    std::unique_ptr<const ModelList> defined = std::make_unique<const ModelList>(std::exchange(settings.models, {}));
    ModelInfo unknown = unknown_model(settings);  ///< assumed for models without any data

    bool is_extension() const { return settings.source == ServiceSource::extension; }
    bool is_model_service() const { return is_service && provider && !is_extension(); }
    /// The definition's default, else the first model that the definition or the service lists; may be empty.
    std::string default_model() const;
    /// The definition's entry for the model; null if there is none.
    const ModelEntry* described(std::string_view model) const { return defined->find(model); }
    const ModelEntry* listed(std::string_view model) const { return list ? list->find(model) : nullptr; }
    /// Whether the definition or the list states that the model takes no pictures. Most say nothing about it, and those
    /// models may get pictures.
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
  std::map<std::string, std::string, std::less<>> gone_;  ///< the names of removed services, and why they were removed
  std::string default_model_;
  std::string chosen_default_;
  Prices prices_;
};

}  // namespace agw
