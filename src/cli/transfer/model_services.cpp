#include "cli/transfer/model_services.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "cli/transfer/program_files.hpp"
#include "models/service_definition.hpp"

namespace agw::cli {

namespace {

/// Whether the gateway knows the service's address.
bool is_of_vendor(std::string_view api) { return api == "anthropic" || api == "openai-responses" || api == "gemini"; }

json::object headers_of(Importer& importer, const SourceService& service) {
  json::object headers;
  for (const auto& [name, value] : service.headers) {
    if (!value.is_string()) continue;
    const std::string text(value.get_string());
    const bool is_secret = names_key(name) || is_reference(text);
    headers[name] = is_secret ? importer.add_secret(fmt::format("{}_{}", service.name, std::string_view(name)),
                                                    is_reference(text) ? std::string() : text)
                              : text;
  }
  return headers;
}

}  // namespace

void import_model_service(Importer& importer, SourceService service, const std::string& origin) {
  const auto what = "model service " + service.name;
  if (service.api.empty()) return importer.leave(what, "speaks an API that the gateway does not");
  if (service.base_url.empty() && !is_of_vendor(service.api))
    return importer.leave(what, "has no address here: use agw model add");
  if (const auto problem = service.base_url.empty() ? std::string() : address_problem(service.base_url);
      !problem.empty())
    return importer.leave(what, "its address " + problem);
  json::object definition{{"kind", "model"}, {"api", service.api}};
  if (!service.base_url.empty()) definition["base_url"] = service.base_url;
  if (service.key) definition["api_key"] = importer.add_secret(service.name + "_API_KEY", *service.key);
  if (auto headers = headers_of(importer, service); !headers.empty()) definition["headers"] = std::move(headers);
  if (!service.models.empty()) definition["models"] = std::move(service.models);
  if (!service.default_model.empty()) definition["default_model"] = service.default_model;
  const auto name =
      importer.add_extension({{"type", "integration"},
                              {"name", service.name},
                              {"description", fmt::format("Model service {} of {}", service.name, importer.source())},
                              {"definition", std::move(definition)}},
                             fmt::format("{}#model/{}", origin, service.name));
  importer.add_model_service(service.name, name);
}

std::optional<std::string> key_in(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (!value || value->is_null()) return std::nullopt;
  if (!value->is_string()) return std::string();
  const std::string text(value->get_string());
  const bool is_variable = !text.empty() && text.ends_with("_KEY") &&
                           std::ranges::all_of(text, [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
  return is_variable || is_reference(text) ? std::string() : text;
}

std::string model_of_service(std::string_view model, std::string_view service) {
  const auto slash = model.find('/');
  return slash != model.npos && model.substr(0, slash) == service ? std::string(model.substr(slash + 1))
                                                                  : std::string();
}

}  // namespace agw::cli
