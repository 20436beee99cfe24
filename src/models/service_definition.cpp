#include "models/service_definition.hpp"

#include <algorithm>
#include <utility>

#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "models/json_reader.hpp"

namespace agw {

namespace {

constexpr auto use_a_secret =
    "keep the key as a secret: store it with PUT /secrets/NAME, and write ${secret:NAME} in its place";
constexpr std::string_view opening = "${secret:";
constexpr std::size_t max_id_length = 256;

bool holds_secret(std::string_view text) { return text.find(opening) != text.npos; }

bool is_header_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_'; });
}

/// Validates one definition.
class DefinitionCheck {
public:
  explicit DefinitionCheck(const json::object& definition) : definition_(definition) {}

  Problems run() {
    const auto* api = definition_.if_contains("api");
    if (!api || api->is_null()) report("definition.api", "definition.api is required");
    if (const auto url = string_member(definition_, "base_url")) {
      if (const auto problem = address_problem(*url); !problem.empty()) {
        report("definition.base_url", "definition.base_url " + problem);
      }
    }
    if (const auto key = string_member(definition_, "api_key"); key && secret_named_by(*key).empty()) {
      report("definition.api_key", use_a_secret);
    }
    if (const auto* headers = object_member(definition_, "headers")) check_headers(*headers);
    if (const auto* models = array_member(definition_, "models")) check_models(*models);
    check_id("definition.default_model", text_member(definition_, "default_model"));
    return std::move(problems_);
  }

private:
  void check_headers(const json::object& headers) {
    for (const auto& [name, value] : headers) {
      const auto path = "definition.headers." + std::string(name);
      const auto text = value.is_string() ? std::string_view(value.get_string()) : std::string_view();
      if (!is_header_name(name) || has_control(text)) {
        report(path, path + " must be a header: a name of letters, digits and -, and a value of one line");
      } else if (names_key(name) && !text.empty() && !holds_secret(text)) {
        report(path, use_a_secret);
      }
    }
  }

  void check_models(const json::array& models) {
    for (std::size_t i = 0; i < models.size(); ++i) {
      const auto* model = models[i].if_object();
      const auto path = "definition.models[" + std::to_string(i) + "].id";
      if (model) check_id(path, text_member(*model, "id"));
    }
  }

  void check_id(const std::string& path, std::string_view id) {
    if (has_control(id) || id.size() > max_id_length) {
      report(path, path + " must be a model's id: one line of at most 256 bytes");
    }
  }

  void report(std::string path, std::string message) { problems_.push_back({std::move(path), std::move(message)}); }

  const json::object& definition_;
  Problems problems_;
};

std::optional<std::int64_t> tokens_in(const json::object& model, std::string_view name) {
  const auto* value = model.if_contains(name);
  if (!value || !value->is_number()) return std::nullopt;
  return static_cast<std::int64_t>(std::clamp(value->to_number<double>(), 1.0, static_cast<double>(max_count)));
}

std::optional<bool> flag_in(const json::object& model, std::string_view name) {
  const auto* value = model.if_contains(name);
  return value && value->is_bool() ? std::optional(value->get_bool()) : std::nullopt;
}

std::optional<Price> price_in(const json::object& model) {
  const auto* prices = object_member(model, "prices");
  if (!prices) return std::nullopt;
  const auto amount = [&](std::string_view name, double otherwise) {
    const auto* value = prices->if_contains(name);
    return value && value->is_number() ? value->to_number<double>() : otherwise;
  };
  const auto input = amount("input", 0);
  return Price{input, amount("output", 0), amount("cache_read", input), amount("cache_write", input)};
}

void set_api(ProviderSettings& settings, std::string_view api) {
  if (api == "anthropic") settings.kind = ProviderKind::anthropic;
  if (api == "ollama") settings.kind = ProviderKind::ollama;
  if (api == "gemini") settings.kind = ProviderKind::gemini;
  if (api == "openai-responses") settings.api = OpenAiApi::responses;
  if (api == "openai-chat") settings.api = OpenAiApi::chat;
}

}  // namespace

std::vector<ModelEntry> model_entries_in(const json::object& definition) {
  std::vector<ModelEntry> entries;
  const auto* models = array_member(definition, "models");
  if (!models) return entries;
  for (const auto& one : *models) {
    const auto* model = one.if_object();
    if (!model || text_member(*model, "id").empty()) continue;
    entries.push_back({.id = std::string(text_member(*model, "id")),
                       .context_window = tokens_in(*model, "context_window"),
                       .max_output = tokens_in(*model, "max_output"),
                       .vision = flag_in(*model, "vision"),
                       .tools = flag_in(*model, "tools"),
                       .prices = price_in(*model)});
  }
  return entries;
}

bool is_model_service(const json::object& definition) { return string_member(definition, "kind") == "model"; }

std::string_view secret_named_by(std::string_view text) {
  if (!text.starts_with(opening) || !text.ends_with('}')) return {};
  const auto name = text.substr(opening.size(), text.size() - opening.size() - 1);
  return is_variable_name(name) ? name : std::string_view();
}

Problems validate_model_service(const json::object& definition) { return DefinitionCheck(definition).run(); }

ProviderSettings model_service_settings(std::string name, const json::object& definition) {
  ProviderSettings settings{.name = std::move(name),
                            .base_url = string_or_empty(definition, "base_url"),
                            .api_key = string_or_empty(definition, "api_key"),
                            .default_model = string_or_empty(definition, "default_model"),
                            .fallback_models = strings_of(definition, "fallback_models"),
                            .source = ServiceSource::extension,
                            .models = model_entries_in(definition),
                            .no_metadata = true};
  set_api(settings, text_member(definition, "api"));
  if (const auto* headers = object_member(definition, "headers")) {
    for (const auto& [header, value] : *headers) {
      if (value.is_string()) settings.headers.push_back({std::string(header), std::string(value.get_string())});
    }
  }
  return settings;
}

}  // namespace agw
