#include "base/text/ascii.hpp"
#include "server/documents/document_routes.hpp"
#include "server/http/path_template.hpp"

namespace agw {

namespace {

/// A tool's input cannot contain bytes or rest-of-path parameters, and its output must be JSON. Forwarded routes use
/// another protocol.
bool is_tool(const Route& route) {
  constexpr int no_content = 204;
  const bool responds_with_json = route.response_schema || route.status == no_content;
  return route.documented && responds_with_json && !route.raw_body && !route.forwards && !route.path.ends_with('*');
}

/// `get_threads_id_turns` for `get /threads/:id/turns`.
std::string tool_name(const Route& route) {
  auto name = lower_case_name(route.method);
  for (const char c : route.path) {
    const bool letter = is_alphanumeric(c);
    if (letter)
      name += c;
    else if (!name.ends_with('_'))
      name += '_';
  }
  if (name.ends_with('_')) name.pop_back();
  return name;
}

std::string_view to_text(Effect effect) {
  switch (effect) {
    case Effect::read:
      return "read";
    case Effect::write:
      return "write";
    case Effect::execute:
      return "execute";
  }
  return {};
}

json::object inputs_of(const Route& route, const PathTemplate& path) {
  json::object properties;
  json::array required;
  for (const auto& name : path.names) {
    properties[name] = json::object{{"type", "string"}};
    required.emplace_back(name);
  }
  if (route.query_type) {
    for (const auto& field : route.query_type->fields) {
      auto schema = parameter_schema(field);
      if (!field.rule.about.empty()) schema["description"] = field.rule.about;
      properties[field.name] = std::move(schema);
      if (!field.may_be_omitted()) required.emplace_back(field.name);
    }
  }
  if (takes_json(route)) {
    properties["body"] = body_schema(route);
    if (route.body_required) required.emplace_back("body");
  }
  json::object inputs{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) inputs["required"] = std::move(required);
  return inputs;
}

json::object call_template(const Route& route, const PathTemplate& path, std::string_view server_url) {
  json::object made{{"call_template_type", "http"},
                    {"http_method", agw::to_text(route.method)},
                    {"url", std::string(server_url) + path.path},
                    {"content_type", "application/json"}};
  if (takes_json(route)) made["body_field"] = "body";
  if (route.open) return made;
  made["auth"] = json::object{{"auth_type", "api_key"},
                              {"api_key", "Bearer ${GATEWAY_TOKEN}"},
                              {"var_name", "Authorization"},
                              {"location", "header"}};
  return made;
}

json::object tool_of(const Route& route, std::string_view server_url) {
  const auto path = path_template(route.path);
  return {{"name", tool_name(route)},
          {"description", route.summary},
          {"inputs", inputs_of(route, path)},
          {"outputs", route.response_schema ? route.response_schema() : json::object{{"type", "null"}}},
          {"tags", json::array{tag_of(route), to_text(route.effect)}},
          {"tool_call_template", call_template(route, path, server_url)}};
}

}  // namespace

json::object utcp_manual(const Routes& routes, std::string_view server_url) {
  json::array tools;
  for (const auto& route : routes) {
    if (is_tool(route)) tools.push_back(tool_of(route, server_url));
  }
  return {{"utcp_version", "1.0.1"}, {"manual_version", AGW_VERSION}, {"tools", std::move(tools)}};
}

}  // namespace agw
