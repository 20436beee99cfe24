#include "server/openapi.hpp"

#include <boost/algorithm/string/case_conv.hpp>

#include "server/response.hpp"

namespace agw {

namespace {

/// `/threads/:id/turns` as `/threads/{id}/turns`, and the names in it.
struct Template {
  std::string path;
  std::vector<std::string> names;
};

Template template_of(std::string_view path) {
  Template made;
  while (!path.empty()) {
    path.remove_prefix(1);
    auto segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    const bool named = segment.starts_with(':') || segment == "*";
    if (named) made.names.emplace_back(segment == "*" ? "rest" : segment.substr(1));
    made.path += named ? "/{" + made.names.back() + "}" : "/" + std::string(segment);
  }
  return made;
}

/// `get /threads/:id/turns` as `getThreadsIdTurns`: stable, and unique as the route is.
std::string operation_id(const Route& route) {
  auto id = boost::to_lower_copy(std::string(to_text(route.method)));
  bool capital = true;
  for (const char c : route.path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
    if (letter) id += capital && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    capital = !letter;
  }
  if (route.path.ends_with('*')) id += "Rest";
  return id;
}

json::object json_content(json::object schema) {
  return {{"application/json", json::object{{"schema", std::move(schema)}}}};
}

json::array parameters_of(const Route& route, const Template& path) {
  json::array parameters;
  for (const auto& name : path.names) {
    parameters.push_back(
        json::object{{"name", name}, {"in", "path"}, {"required", true}, {"schema", json::object{{"type", "string"}}}});
  }
  if (!route.query_type) return parameters;
  for (const auto& field : route.query_type->fields) {
    const bool required = !field.operations->optional && !field.rule.keep;
    json::object parameter{{"name", field.name}, {"in", "query"}, {"required", required}};
    if (!field.rule.about.empty()) parameter["description"] = field.rule.about;
    parameter["schema"] = field.operations->schema(Direction::request);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

json::object responses_of(const Route& route) {
  json::object success{{"description", "success"}};
  if (route.answer_schema) success["content"] = json_content(route.answer_schema());
  json::object responses{{std::to_string(route.status), std::move(success)}};
  auto errors = route.errors;
  if (!route.open) errors.push_back(401);
  for (const int status : errors) {
    responses[std::to_string(status)] = json::object{
        {"description", reason_phrase(status)}, {"content", json_content({{"$ref", "#/components/schemas/Error"}})}};
  }
  return responses;
}

json::object operation_of(const Route& route, const Template& path) {
  json::object operation{{"operationId", operation_id(route)}, {"summary", route.summary}};
  const auto room = route.path.substr(1, route.path.find('/', 1) - 1);
  operation["tags"] = json::array{room};
  if (auto parameters = parameters_of(route, path); !parameters.empty())
    operation["parameters"] = std::move(parameters);
  if (route.body_type) {
    auto content = json_content(schema_of(*route.body_type, Direction::request));
    if (route.example) content["application/json"].get_object()["example"] = *route.example;
    operation["requestBody"] = json::object{{"required", route.body_required}, {"content", std::move(content)}};
  }
  operation["responses"] = responses_of(route);
  if (route.open) operation["security"] = json::array{};
  return operation;
}

}  // namespace

json::object openapi_document(const Routes& routes, std::string_view server_url) {
  json::object paths;
  for (const auto& route : routes) {
    const auto path = template_of(route.path);
    auto& item = paths[path.path];
    if (!item.is_object()) item = json::object{};
    item.get_object()[boost::to_lower_copy(std::string(to_text(route.method)))] = operation_of(route, path);
  }
  json::object error{{"type", "object"},
                     {"properties", json::object{{"error", json::object{{"type", "string"}}}}},
                     {"required", json::array{"error"}}};
  return {
      {"openapi", "3.1.0"},
      {"info", json::object{{"title", "Agent Gateway"},
                            {"version", AGW_VERSION},
                            {"description", "A local gateway that configures and runs AI agents."}}},
      {"servers", json::array{json::object{{"url", server_url}}}},
      {"security", json::array{json::object{{"bearer", json::array{}}}}},
      {"paths", std::move(paths)},
      {"components", json::object{{"schemas", json::object{{"Error", std::move(error)}}},
                                  {"securitySchemes",
                                   json::object{{"bearer", json::object{{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace agw
