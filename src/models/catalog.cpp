#include "models/catalog.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/log.hpp"
#include "models/http_provider.hpp"
#include "models/known_models.hpp"
#include "models/ollama.hpp"

namespace agw {

namespace {

constexpr std::int64_t unknown_context_window = 128'000;
constexpr std::int64_t unknown_max_output_tokens = 8'192;

/// What to configure, by kind; empty for an unknown kind.
std::string_view how_to_configure(std::string_view kind) {
  if (kind == "anthropic") return "set ANTHROPIC_API_KEY";
  if (kind == "openai") return "set OPENAI_API_KEY, or OPENAI_BASE_URL for a compatible server";
  if (kind == "ollama") return "set OLLAMA_HOST, such as 127.0.0.1:11434";
  return {};
}

NotConfigured not_configured(std::string_view kind) {
  return {
      fmt::format("provider {0} is not configured: {1}, or name it under providers: in config.yaml, and restart the "
                  "gateway",
                  kind, how_to_configure(kind))};
}

bool is_on_this_host(std::string_view base_url) {
  const auto url = boost::urls::parse_uri(base_url);
  if (!url) return false;
  const auto host = url->host();
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

/// Local models reveal vision only in their names.
bool sounds_like_vision(std::string_view model) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"vision", "llava", "-vl", "vl:", "gemma3", "pixtral"},
      [&](auto word) { return model.find(word) != std::string_view::npos; });
}

void describe_unknown(ModelInfo& info, const ProviderSettings& settings, std::string_view model) {
  const bool local = settings.kind == ProviderKind::ollama || is_on_this_host(settings.base_url);
  info.context_window = local ? ollama_context_window : unknown_context_window;
  info.max_output_tokens = unknown_max_output_tokens;
  const bool recent_service = settings.kind == ProviderKind::anthropic || is_openai_service(settings.base_url);
  info.vision = recent_service || sounds_like_vision(model);
}

/// The ids of the known models of the service.
std::vector<std::string_view> known_to(const ProviderSettings& settings) {
  std::vector<std::string_view> ids;
  if (settings.kind != ProviderKind::anthropic && !is_openai_service(settings.base_url)) return ids;
  for (const auto& known : known_models()) {
    if (known.kind == settings.kind) ids.push_back(known.id);
  }
  return ids;
}

}  // namespace

Models::Models(HttpClient& http, ModelSettings settings, Prices prices)
    : default_model_(std::move(settings.default_model)), prices_(std::move(prices)) {
  for (auto& provider : settings.providers) {
    if (find(provider.name)) continue;
    if (!provider.problem.empty()) {
      entries_.push_back({std::move(provider), nullptr, true});
      continue;
    }
    auto completed = complete(std::move(provider));
    auto service = std::make_unique<HttpProvider>(http, completed, settings.idle_timeout);
    entries_.push_back({std::move(completed), std::move(service), true});
  }
}

Models::~Models() = default;

void Models::add(std::string name, std::unique_ptr<Provider> provider, std::string default_model) {
  ProviderSettings settings{.name = std::move(name), .default_model = std::move(default_model)};
  entries_.push_back({std::move(settings), std::move(provider), false});
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

std::string Models::default_model() const {
  if (!default_model_.empty()) return default_model_;
  // A provider that cannot be used must report why; the offline provider must not silently replace it.
  auto found = std::ranges::find_if(entries_, &Entry::is_model_service);
  if (found == entries_.end()) found = std::ranges::find_if(entries_, &Entry::is_service);
  if (found != entries_.end()) return found->settings.name + "/" + found->settings.default_model;
  return fmt::format("{}/{}", offline_provider, offline_model);
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
    if (const auto* entry = find_kind(prefix)) return choose(entry, model);
    if (!how_to_configure(prefix).empty()) return not_configured(prefix);
  }
  if (is_default) {
    const auto first = std::ranges::find_if(entries_, [](const Entry& entry) { return entry.provider != nullptr; });
    if (first == entries_.end())
      return NotConfigured{fmt::format("model {} is not available: no provider is configured", reference)};
    return choose(&*first, reference);
  }
  // A model id of the default model's provider.
  auto chosen = resolve(fallback);
  auto* choice = std::get_if<ModelChoice>(&chosen);
  return choice ? choose(find(choice->provider_name), reference) : chosen;
}

std::variant<ModelChoice, NotConfigured> Models::choose(const Entry* entry, std::string_view model) const {
  if (!entry->provider) return NotConfigured{entry->settings.problem};
  if (model.empty()) model = entry->settings.default_model;
  if (!entry->is_service && model != entry->settings.default_model) {
    return NotConfigured{fmt::format(
        "model {} is not available, because no provider is configured for it: set ANTHROPIC_API_KEY, OPENAI_API_KEY, "
        "OPENAI_BASE_URL or OLLAMA_HOST, or name one under providers: in config.yaml, and restart the gateway",
        model)};
  }
  return ModelChoice{entry->provider.get(), entry->settings.name, std::string(model),
                     info(entry->settings.name, model).max_output_tokens};
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
  for (const auto& entry : entries_) {
    if (!entry.provider) continue;
    const auto& name = entry.settings.name;
    std::vector<std::string_view> models;
    if (preferred && preferred->provider_name == name) models.push_back(preferred->model);
    models.push_back(entry.settings.default_model);
    if (entry.is_service) std::ranges::copy(known_to(entry.settings), std::back_inserter(models));
    for (auto model = models.begin(); model != models.end(); ++model) {
      if (std::find(models.begin(), model, *model) == model) rows.push_back(info(name, *model));
    }
  }
  return rows;
}

ModelInfo Models::info(std::string_view provider, std::string_view model) const {
  const auto* entry = find(provider);
  ModelInfo info{.id = fmt::format("{}/{}", provider, model),
                 .provider = std::string(provider),
                 .price = price(entry, provider, model)};
  const auto* known = find_known_model(model);
  if (known && !(entry && !entry->is_service)) {
    info.context_window = known->context_window;
    info.max_output_tokens = known->max_output_tokens;
    info.vision = known->vision;
    return info;
  }
  describe_unknown(info, entry ? entry->settings : ProviderSettings{}, model);
  return info;
}

std::optional<Price> Models::price(const Entry* entry, std::string_view provider, std::string_view model) const {
  if (const auto set = prices_.find(provider, model)) return set;
  const bool is_free = entry && (!entry->is_service || entry->settings.kind == ProviderKind::ollama);
  if (is_free) return Price{};
  if (const auto* known = find_known_model(model)) return known->price;
  return std::nullopt;
}

std::optional<double> Models::cost(std::string_view provider, std::string_view model, const Usage& usage) const {
  const auto known = price(find(provider), provider, model);
  if (!known) return std::nullopt;
  return agw::cost(*known, usage);
}

}  // namespace agw
