// Resolves names of models, and combines the known facts about each model.
//
// `resolve` takes `<provider>/<model>`, a bare id, or nothing. If the first part is neither a provider's name nor a
// kind, it belongs to the id, because ids contain slashes. Without a name, the default is the setting, else the first
// provider's model, else the librarian.
//
// Facts come from the service's definition, else from its own list, else from the table in share/, else they are
// guessed from the name. For prices, a person's prices.yaml takes precedence over all of these.

#include "models/catalog.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/log.hpp"
#include "models/http_provider.hpp"
#include "models/known_models.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

constexpr std::int64_t unknown_context_window = 128'000;
constexpr std::int64_t unknown_max_output_tokens = 8'192;

/// What to configure, by kind; empty for an unknown kind.
std::string_view how_to_configure(std::string_view kind) {
  if (kind == "anthropic") return "set ANTHROPIC_API_KEY";
  if (kind == "openai") return "set OPENAI_API_KEY, or OPENAI_BASE_URL for a compatible server";
  if (kind == "gemini") return "set GEMINI_API_KEY";
  if (kind == "ollama") return "set OLLAMA_HOST, such as 127.0.0.1:11434";
  return {};
}

NotConfigured not_configured(std::string_view kind) {
  return {
      fmt::format("provider {0} is not configured: connect it with `agw model add {0}` or on the page under System, "
                  "Models, at once; or {1}, or name it under providers: in config.yaml, and restart the gateway",
                  kind, how_to_configure(kind))};
}

constexpr auto unknown_service =
    "no model service has the name before the /: connect one with `agw model add` or on the page under System, Models";

bool is_on_this_host(std::string_view base_url) {
  const auto url = boost::urls::parse_uri(base_url);
  if (!url) return false;
  const auto host = url->host();
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

bool is_vendors_own(const ProviderSettings& settings) {
  return settings.kind == ProviderKind::anthropic || settings.kind == ProviderKind::gemini ||
         is_openai_service(settings.base_url);
}

/// Local models indicate vision only by their names.
bool name_suggests_vision(std::string_view model) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"vision", "llava", "-vl", "vl:", "gemma3", "pixtral"},
      [&](auto word) { return model.find(word) != std::string_view::npos; });
}

/// Sets `member` to the first value that is set, if any.
template <class T>
void set_first(T& member, std::initializer_list<std::optional<T>> candidates) {
  const auto first = std::ranges::find_if(candidates, [](const auto& one) { return one.has_value(); });
  if (first != candidates.end()) member = **first;
}

/// The ids of the known models of the service, if it is the vendor's own.
std::vector<std::string_view> known_model_ids(const ProviderSettings& settings) {
  std::vector<std::string_view> ids;
  if (!is_vendors_own(settings)) return ids;
  for (const auto& known : known_models()) {
    if (known.kind == settings.kind) ids.push_back(known.id);
  }
  return ids;
}

const ModelEntry no_entry{};

}  // namespace

ModelList::ModelList(std::vector<ModelEntry> entries) : entries_(std::move(entries)) {
  by_id_.reserve(entries_.size());
  for (const auto& entry : entries_) by_id_.emplace(entry.id, &entry);
}

const ModelEntry* ModelList::find(std::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::string Models::Entry::default_model() const {
  if (!settings.default_model.empty()) return settings.default_model;
  if (!defined->entries().empty()) return defined->entries().front().id;
  return list && !list->entries().empty() ? list->entries().front().id : std::string();
}

ModelInfo Models::unknown_model(const ProviderSettings& settings) {
  const bool is_local = settings.kind == ProviderKind::ollama || is_on_this_host(settings.base_url);
  return {.provider = settings.name,
          .source = settings.source,
          .context_window = is_local ? ollama_context_window : unknown_context_window,
          .max_output_tokens = unknown_max_output_tokens,
          .vision = is_vendors_own(settings)};
}

Models::Models(HttpClient& http, BlockingPool& blocking, ModelSettings settings, Prices prices)
    : default_model_(std::move(settings.default_model)), prices_(std::move(prices)) {
  for (auto& provider : settings.providers) {
    if (find(provider.name)) continue;
    if (!provider.problem.empty()) {
      entries_.push_back({.settings = std::move(provider)});
      continue;
    }
    auto completed = complete(std::move(provider));
    auto service = std::make_shared<HttpProvider>(http, blocking, completed, settings.idle_timeout);
    entries_.push_back({.settings = std::move(completed), .provider = std::move(service)});
  }
}

Models::~Models() = default;

void Models::add(std::string name, std::unique_ptr<Provider> provider, std::string default_model) {
  AGW_ASSERT(provider);
  ++revision_;
  ProviderSettings settings{
      .name = std::move(name), .default_model = std::move(default_model), .source = ServiceSource::built_in};
  entries_.push_back({.settings = std::move(settings), .provider = std::move(provider), .is_service = false});
}

void Models::put(ProviderSettings settings, std::shared_ptr<Provider> provider, bool reuse_list) {
  AGW_ASSERT(provider);
  ++revision_;
  gone_.erase(settings.name);
  const auto found = std::ranges::find(entries_, settings.name, [](const Entry& entry) { return entry.settings.name; });
  if (found == entries_.end()) {
    entries_.push_back({.settings = std::move(settings), .provider = std::move(provider)});
  } else if (found->is_extension()) {
    auto list = reuse_list ? std::move(found->list) : nullptr;
    *found = {.settings = std::move(settings), .provider = std::move(provider), .list = std::move(list)};
  }
}

void Models::choose_default(std::string id) {
  ++revision_;
  chosen_default_ = std::move(id);
}

void Models::remove(const std::string& name, std::string reason) {
  if (is_reserved(name)) return;
  ++revision_;
  std::erase_if(entries_, [&](const Entry& entry) { return entry.settings.name == name; });
  gone_[name] = std::move(reason);
}

void Models::set_list(std::string_view name, std::shared_ptr<const ModelList> list) {
  ++revision_;
  for (auto& entry : entries_) {
    if (entry.settings.name == name) entry.list = list;
  }
}

std::vector<ProviderSettings> Models::configured() const {
  std::vector<ProviderSettings> services;
  for (const auto& entry : entries_) {
    if (entry.is_service && !entry.is_extension()) services.push_back(entry.settings);
  }
  return services;
}

bool Models::has(std::string_view name) const {
  const auto* entry = find(name);
  return entry && entry->provider;
}

bool Models::is_reserved(std::string_view name) const {
  const auto* entry = find(name);
  return entry && !entry->is_extension();
}

std::optional<bool> Models::lists(std::string_view name, std::string_view model) const {
  const auto* entry = find(name);
  if (!entry) return false;
  if (model == entry->settings.default_model || entry->described(model) || entry->listed(model)) return true;
  if (!entry->is_service) return false;
  const auto known = known_model_ids(entry->settings);
  if (contains(known, model)) return true;
  return entry->list ? std::optional(false) : std::nullopt;
}

const Models::Entry* Models::find(std::string_view name) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.settings.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

const Models::Entry* Models::find_kind(std::string_view kind) const {
  const auto found = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return entry.is_model_service() && to_string(entry.settings.kind) == kind; });
  return found == entries_.end() ? nullptr : &*found;
}

DefaultModel Models::find_default() const {
  using Source = DefaultModel::Source;
  if (!default_model_.empty()) return {default_model_, Source::config};
  const auto chosen_service = std::string_view(chosen_default_).substr(0, chosen_default_.find('/'));
  if (!chosen_default_.empty() && has(chosen_service)) return {chosen_default_, Source::settings};
  return {automatic_default().value_or(fmt::format("{}/{}", offline_provider, offline_model)), Source::automatic};
}

std::optional<std::string> Models::automatic_default() const {
  const auto of_first = [this](auto condition) -> std::optional<std::string> {
    const auto found = std::ranges::find_if(entries_, condition);
    if (found == entries_.end()) return std::nullopt;
    return found->settings.name + "/" + found->default_model();
  };
  if (auto usable = of_first(&Entry::is_model_service)) return usable;
  // A service that an agent has set up is used only by name, never as the default.
  auto live = of_first([](const Entry& entry) {
    return entry.is_extension() && !entry.settings.public_only && !entry.default_model().empty();
  });
  if (live) return live;
  // A provider that cannot be used must report why; the offline provider must not silently replace it.
  return of_first([](const Entry& entry) { return entry.is_service && !entry.is_extension(); });
}

std::variant<ModelChoice, NotConfigured> Models::resolve(std::string_view reference) const {
  const std::string fallback = default_model();
  const bool is_default = reference.empty() || reference == fallback;
  if (reference.empty()) reference = fallback;
  const auto slash = reference.find('/');
  if (slash != std::string_view::npos) {
    const auto prefix = reference.substr(0, slash);
    const auto model = reference.substr(slash + 1);
    if (const auto* entry = find(prefix)) return choose(entry, model);
    if (const auto gone = gone_.find(prefix); gone != gone_.end()) return NotConfigured{gone->second, true};
    if (const auto* entry = find_kind(prefix)) return choose(entry, model);
    if (!how_to_configure(prefix).empty()) return not_configured(prefix);
  }
  if (is_default) {
    const auto first = std::ranges::find_if(entries_, [](const Entry& entry) { return entry.provider != nullptr; });
    if (first == entries_.end())
      return NotConfigured{fmt::format("model {} is not available: no provider is configured", reference)};
    return choose(&*first, reference);
  }
  // An id of a model of the default model's provider.
  auto chosen = resolve(fallback);
  auto* choice = std::get_if<ModelChoice>(&chosen);
  return choice ? choose(find(choice->provider_name), reference) : chosen;
}

std::variant<ModelChoice, NotConfigured> Models::choose(const Entry* entry, std::string_view model) const {
  AGW_ASSERT(entry);
  if (!entry->provider) return NotConfigured{entry->settings.problem};
  const auto usual = entry->default_model();
  if (model.empty()) model = usual;
  if (model.empty()) {
    return NotConfigured{
        fmt::format("service {0} has no default model: name one as {0}/<model>, or set default_model "
                    "in its definition",
                    entry->settings.name)};
  }
  if (!entry->is_service && model != entry->settings.default_model) {
    return NotConfigured{fmt::format(
        "model {} is not available, because no provider is configured for it: connect a service with `agw model add` "
        "or on the page under System, Models, at once; or set ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL, "
        "GEMINI_API_KEY or OLLAMA_HOST, or name one under providers: in config.yaml, and restart the gateway",
        model)};
  }
  const auto about = info(entry->settings.name, model);
  return ModelChoice{.provider = entry->provider.get(),
                     .provider_name = entry->settings.name,
                     .model = std::string(model),
                     .output_token_limit = about.max_output_tokens,
                     .is_limit_assumed = about.is_max_output_assumed,
                     .takes_tools = about.tools,
                     .takes_pictures = !entry->refuses_pictures(model),
                     .price = about.price,
                     .kept = entry->provider};
}

std::string Models::service_problem(std::string_view reference) const {
  const auto prefix = reference.substr(0, reference.find('/'));
  const bool is_known =
      find(prefix) || gone_.contains(prefix) || find_kind(prefix) || !how_to_configure(prefix).empty();
  if (!is_known) return unknown_service;
  const auto resolved = resolve(reference);
  if (const auto* problem = std::get_if<NotConfigured>(&resolved)) return problem->message;
  // The unknown prefix is part of the id: it is a model of the default model's service.
  if (std::get<ModelChoice>(resolved).model != reference) return {};
  return unknown_service;
}

std::vector<ModelChoice> Models::fallbacks_of(const ModelChoice& choice) const {
  const auto* entry = find(choice.provider_name);
  if (!entry) return {};
  std::vector<ModelChoice> fallbacks;
  for (const auto& reference : entry->settings.fallback_models) {
    if (const auto problem = service_problem(reference); !problem.empty()) {
      log::warn("fallback model {} of {}: {}", reference, choice.provider_name, problem);
      continue;
    }
    auto fallback = std::get<ModelChoice>(resolve(reference));
    if (fallback.id() != choice.id()) fallbacks.push_back(std::move(fallback));
  }
  return fallbacks;
}

std::vector<ModelChoice> Models::resolve_fallbacks(const std::vector<std::string>& references) const {
  std::vector<ModelChoice> choices;
  for (const auto& reference : references) {
    auto resolved = resolve(reference);
    if (auto* choice = std::get_if<ModelChoice>(&resolved)) {
      choices.push_back(std::move(*choice));
    } else {
      log::warn("fallback model {}: {}", reference, std::get<NotConfigured>(resolved).message);
    }
  }
  return choices;
}

std::vector<ModelInfo> Models::list() const {
  const auto resolved = resolve({});
  const auto* preferred = std::get_if<ModelChoice>(&resolved);
  std::vector<ModelInfo> rows;
  for (const bool services : {true, false}) {
    for (const auto& entry : entries_) {
      if (!entry.provider || entry.is_service != services) continue;
      std::unordered_set<std::string_view> seen;
      for (const auto model : model_ids(entry, preferred)) {
        if (!model.empty() && seen.insert(model).second) rows.push_back(info(entry.settings.name, model));
      }
    }
  }
  return rows;
}

/// May contain duplicates.
std::vector<std::string_view> Models::model_ids(const Entry& entry, const ModelChoice* preferred) const {
  std::vector<std::string_view> models;
  if (preferred && preferred->provider_name == entry.settings.name) models.push_back(preferred->model);
  models.push_back(entry.settings.default_model);
  for (const auto& described : entry.defined->entries()) models.push_back(described.id);
  if (entry.list) {
    for (const auto& listed : entry.list->entries()) models.push_back(listed.id);
  } else if (entry.is_service) {
    std::ranges::copy(known_model_ids(entry.settings), std::back_inserter(models));
  }
  return models;
}

bool Models::Entry::refuses_pictures(std::string_view model) const {
  const auto* entry = described(model);
  if (!entry || !entry->vision) entry = listed(model);
  return entry && entry->vision == false;
}

ModelInfo Models::info(std::string_view provider, std::string_view model) const {
  const auto* entry = find(provider);
  auto info = entry ? entry->unknown : unknown_model({.name = std::string(provider)});
  info.id = fmt::format("{}/{}", provider, model);
  info.price = price(entry, provider, model);
  // Ollama uses the window that the gateway requests, and truncates longer prompts silently.
  const bool is_ollama = entry && entry->settings.kind == ProviderKind::ollama;
  const auto* known = find_known_model(model);
  if (known && !is_ollama && !(entry && !entry->is_service)) {
    info.context_window = known->context_window;
    info.max_output_tokens = known->max_output_tokens;
    info.is_max_output_assumed = false;
    info.vision = known->vision;
  } else {
    info.vision = info.vision || name_suggests_vision(model);
  }
  if (!entry) return info;
  const auto* described = entry->described(model);
  const auto* listed = entry->listed(model);
  const auto& defined = described ? *described : no_entry;
  const auto& heard = listed ? *listed : no_entry;
  set_first(info.context_window, {defined.context_window, is_ollama ? std::nullopt : heard.context_window});
  set_first(info.max_output_tokens, {defined.max_output, heard.max_output});
  if (defined.max_output || heard.max_output) info.is_max_output_assumed = false;
  set_first(info.vision, {defined.vision, heard.vision});
  set_first(info.tools, {defined.tools, heard.tools});
  return info;
}

std::optional<Price> Models::price(const Entry* entry, std::string_view provider, std::string_view model) const {
  if (const auto set = prices_.find(provider, model)) return set;
  const auto* described = entry ? entry->described(model) : nullptr;
  if (described && described->prices) return described->prices;
  const bool is_free = entry && (!entry->is_service || entry->settings.kind == ProviderKind::ollama);
  if (is_free) return Price{};
  const auto* listed = entry ? entry->listed(model) : nullptr;
  if (listed && listed->prices) return listed->prices;
  if (const auto* known = find_known_model(model)) return known->price;
  return std::nullopt;
}

}  // namespace agw
