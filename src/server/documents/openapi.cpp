#include <set>

#include "api/client_errors.hpp"
#include "base/text/ascii.hpp"
#include "server/documents/document_routes.hpp"
#include "server/http/path_template.hpp"
#include "server/http/response.hpp"

namespace agw {

namespace {

constexpr std::string_view schemas = "#/components/schemas/";

json::object reference(std::string_view place, std::string_view name) {
  return {{"$ref", std::string(place) + std::string(name)}};
}

/// `getThreadsIdTurns` for `get /threads/:id/turns`: stable, and unique like the route.
std::string operation_id(const Route& route) {
  auto id = lower_case_name(route.method);
  bool capital = true;
  for (const char c : route.path) {
    const bool letter = is_alphanumeric(c);
    if (letter) id += capital && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    capital = !letter;
  }
  if (route.path.ends_with('*')) id += "Rest";
  return id;
}

/// Whether responses are stored for an Idempotency-Key.
bool is_repeatable(const Route& route) {
  return route.method == Method::post && !route.open && (!route.stream || route.repeatable);
}

std::string description_of_operation(const Route& route) {
  std::string text = route.summary + ". ";
  switch (route.effect) {
    case Effect::read:
      text += route.pairing ? "The code before is void." : "It changes nothing.";
      break;
    case Effect::write:
      text += "It changes what the gateway keeps.";
      break;
    case Effect::execute:
      text += "It makes the gateway act.";
      break;
  }
  return text;
}

json::object json_content(json::object schema) {
  return {{"application/json", json::object{{"schema", std::move(schema)}}}};
}

json::object bytes() { return {{"schema", json::object{{"type", "string"}, {"format", "binary"}}}}; }

json::object response_schema(const Route& route) {
  if (!route.response_type) return route.response_schema();
  auto schema = reference(schemas, route.response_type->name);
  if (!route.responds_with_list) return schema;
  return {{"type", "array"}, {"items", std::move(schema)}};
}

json::array parameters_of(const Route& route, const PathTemplate& path) {
  json::array parameters;
  for (const auto& name : path.names) {
    parameters.push_back(
        json::object{{"name", name}, {"in", "path"}, {"required", true}, {"schema", json::object{{"type", "string"}}}});
  }
  if (is_repeatable(route)) parameters.push_back(reference("#/components/parameters/", "IdempotencyKey"));
  if (!route.query_type) return parameters;
  for (const auto& field : route.query_type->fields) {
    json::object parameter{{"name", field.name}, {"in", "query"}, {"required", !field.may_be_omitted()}};
    if (!field.rule.about.empty()) parameter["description"] = field.rule.about;
    parameter["schema"] = parameter_schema(field);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// The route's own error statuses, and those common to all routes.
std::set<int> errors_of(const Route& route) {
  std::set<int> errors(route.errors.begin(), route.errors.end());
  errors.insert(403);
  if (!route.open) errors.insert(401);
  if (is_repeatable(route)) errors.insert(409);
  const bool takes_body = takes_json(route) || route.raw_body;
  const bool is_named_record = route.path.find(':') != std::string::npos;
  if (takes_body || route.query_type || is_named_record) errors.insert(400);
  if (takes_body) errors.insert(413);
  if (route.effect == Effect::write && !route.open) errors.insert(507);
  if (is_named_record) errors.insert(404);
  return errors;
}

std::string_view error_type(Protocol protocol) {
  switch (protocol) {
    case Protocol::openai:
      return "OpenaiError";
    case Protocol::anthropic:
      return "AnthropicError";
    case Protocol::gateway:
      break;
  }
  return "Error";
}

/// At some paths a header decides about the protocol. Of MCP, the gate's errors are not messages.
json::object error_schema(const Route& route) {
  if (route.path == "/mcp")
    return {{"anyOf", json::array{reference(schemas, "Error"), reference(schemas, "McpError")}}};
  const auto usual = error_type(protocol_of(route.path, false));
  const auto with_header = error_type(protocol_of(route.path, true));
  if (usual == with_header) return reference(schemas, usual);
  return {{"anyOf", json::array{reference(schemas, usual), reference(schemas, with_header)}}};
}

json::object content_of_success(const Route& route) {
  json::object content;
  if (route.response_schema) content = json_content(response_schema(route));
  if (route.responds_with_bytes) content["*/*"] = bytes();
  if (content.empty())
    content[route.stream ? "text/event-stream" : "text/plain"] =
        json::object{{"schema", json::object{{"type", "string"}}}};
  return content;
}

json::object responses_of(const Route& route) {
  json::object success{{"description", "success"}};
  constexpr int no_content = 204;
  if (route.status != no_content) success["content"] = content_of_success(route);
  json::object responses{{std::to_string(route.status), std::move(success)}};
  for (const int status : errors_of(route)) {
    responses[std::to_string(status)] =
        json::object{{"description", reason_phrase(status)}, {"content", json_content(error_schema(route))}};
  }
  return responses;
}

json::object request_body_of(const Route& route) {
  if (route.raw_body) return {{"required", true}, {"content", json::object{{"application/octet-stream", bytes()}}}};
  auto content = json_content(body_schema(route));
  if (route.example) content["application/json"].get_object()["example"] = *route.example;
  return {{"required", route.body_required}, {"content", std::move(content)}};
}

json::object operation_of(const Route& route, const PathTemplate& path) {
  json::object operation{{"operationId", operation_id(route)},
                         {"summary", route.summary},
                         {"description", description_of_operation(route)},
                         {"tags", json::array{tag_of(route)}}};
  if (auto parameters = parameters_of(route, path); !parameters.empty())
    operation["parameters"] = std::move(parameters);
  if (takes_json(route) || route.raw_body) operation["requestBody"] = request_body_of(route);
  operation["responses"] = responses_of(route);
  if (route.open) operation["security"] = json::array{};
  return operation;
}

json::object paths_of(const Routes& routes) {
  json::object paths;
  for (const auto& route : routes) {
    if (!route.documented) continue;
    const auto path = path_template(route.path);
    auto& item = paths[path.path];
    if (!item.is_object()) item = json::object{};
    item.get_object()[lower_case_name(route.method)] = operation_of(route, path);
  }
  return paths;
}

/// An object that has all of these members.
json::object object_schema(json::object properties) {
  json::array required;
  for (const auto& member : properties) required.emplace_back(member.key());
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

json::object error_schemas() {
  const json::object text{{"type", "string"}};
  const json::object text_or_null{{"type", json::array{"string", "null"}}};
  return {
      {"Error",
       json::object{{"type", "object"},
                    {"properties",
                     json::object{{"error", text}, {"details", json::object{}}, {"agent_id", text}, {"name", text}}},
                    {"required", json::array{"error"}}}},
      {"OpenaiError",
       object_schema(
           {{"error",
             object_schema({{"message", text}, {"type", text}, {"param", text_or_null}, {"code", text_or_null}})}})},
      {"AnthropicError", object_schema({{"type", json::object{{"const", "error"}}},
                                        {"error", object_schema({{"type", text}, {"message", text}})},
                                        {"request_id", text_or_null}})},
      {"McpError",
       object_schema({{"jsonrpc", json::object{{"const", "2.0"}}},
                      {"id", json::object{{"type", json::array{"string", "integer", "null"}}}},
                      {"error", object_schema({{"code", json::object{{"type", "integer"}}}, {"message", text}})}})}};
}

json::object schemas_of(const Routes& routes) {
  auto named = error_schemas();
  for (const auto& route : routes) {
    if (route.response_type) named[route.response_type->name] = schema_of(*route.response_type, Direction::response);
  }
  return named;
}

json::array tags_of(const Routes& routes) {
  std::set<std::string> rooms;
  for (const auto& route : routes) {
    if (route.documented) rooms.insert(tag_of(route));
  }
  json::array tags;
  for (const auto& room : rooms) tags.push_back(json::object{{"name", room}, {"description", "What is at /" + room}});
  return tags;
}

json::object components_of(const Routes& routes) {
  const json::object key{{"name", "Idempotency-Key"},
                         {"in", "header"},
                         {"description", "The same key and body within 24 hours answer the first answer again."},
                         {"required", false},
                         {"schema", json::object{{"type", "string"}, {"maxLength", 255}}}};
  return {{"schemas", schemas_of(routes)},
          {"parameters", json::object{{"IdempotencyKey", key}}},
          {"securitySchemes", json::object{{"bearer", json::object{{"type", "http"}, {"scheme", "bearer"}}}}}};
}

}  // namespace

json::object document_information() {
  return {{"title", "Agent Gateway"},
          {"version", AGW_VERSION},
          {"description", "A local gateway that configures and runs AI agents."},
          {"contact", json::object{{"name", "Agent Gateway"}}},
          {"license", json::object{{"name", "Apache-2.0"}, {"url", "https://www.apache.org/licenses/LICENSE-2.0"}}}};
}

json::object parameter_schema(const Field& field) {
  auto schema = field.operations->schema(Direction::request);
  if (auto* type = schema.if_contains("type"); type && type->is_array()) *type = json::value(type->at(0));
  if (auto* listed = schema.if_contains("enum")) {
    auto& values = listed->get_array();
    values.erase(std::remove(values.begin(), values.end(), nullptr), values.end());
  }
  return schema;
}

json::object openapi_document(const Routes& routes, std::string_view server_url) {
  return {{"openapi", "3.1.0"},
          {"info", document_information()},
          {"servers", json::array{json::object{{"url", server_url}}}},
          {"security", json::array{json::object{{"bearer", json::array{}}}}},
          {"tags", tags_of(routes)},
          {"paths", paths_of(routes)},
          {"components", components_of(routes)}};
}

}  // namespace agw
