#include "features/integrations/openapi.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/replace.hpp>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "base/json/yaml.hpp"

namespace agw {

namespace {

constexpr std::array methods{"get", "put", "post", "delete", "patch", "head"};
constexpr std::size_t max_operations = 300;
constexpr int max_schema_depth = 12;
constexpr int max_nodes = 2000;
constexpr std::size_t max_description_length = 2000;

class OpenApiReader {
public:
  OpenApiReader(const json::value& document, const WebUrl& url) : document_(document), url_(url) {}

  std::variant<ApiDescription, ApiProblem> read() {
    const auto* root = document_.if_object();
    if (!root || !string_or_empty(*root, "openapi").starts_with("3."))
      return ApiProblem{"its url gives no OpenAPI 3 document"};
    ApiDescription made{.server = server(*root)};
    for (const auto& [path, item] : object_or_empty(*root, "paths")) {
      if (item.is_object() && path.starts_with('/')) read_path(std::string(path), resolved(item.get_object()), made);
    }
    if (made.operations.empty()) return ApiProblem{"its OpenAPI document has no operations"};
    return made;
  }

private:
  WebUrl server(const json::object& root) const {
    const auto* servers = root.if_contains("servers");
    if (!servers || !servers->is_array() || servers->get_array().empty()) return *url_.resolve("/");
    const auto* first = servers->get_array()[0].if_object();
    if (!first) return *url_.resolve("/");
    auto text = string_or_empty(*first, "url");
    for (const auto& [name, variable] : object_or_empty(*first, "variables")) {
      if (variable.is_object()) {
        boost::replace_all(text, fmt::format("{{{}}}", std::string_view(name)),
                           string_or_empty(variable.get_object(), "default"));
      }
    }
    return url_.resolve(text).value_or(*url_.resolve("/"));
  }

  /// The target of a `$ref` within the document. Follows at most a few references.
  const json::object& resolved(const json::object& object) const {
    const auto* at = &object;
    for (int steps = 0; steps < 8; ++steps) {
      const auto reference = string_member(*at, "$ref");
      if (!reference || !reference->starts_with("#/")) return *at;
      boost::system::error_code error;
      const auto* target = document_.find_pointer(reference->substr(1), error);
      if (error || !target || !target->is_object()) return *at;
      at = &target->get_object();
    }
    return *at;
  }

  void read_path(const std::string& path, const json::object& item, ApiDescription& made) {
    for (const auto* method : methods) {
      const auto* operation = object_member(item, method);
      if (!operation) continue;
      auto name = tool_name(path, method, *operation);
      if (!names_.insert(name).second) continue;
      if (made.operations.size() == max_operations) {
        ++made.left_out;
        continue;
      }
      nodes_ = 0;
      made.operations.push_back(read_operation(std::move(name), path, method, item, *operation));
    }
  }

  static std::string tool_name(const std::string& path, const std::string& method, const json::object& operation) {
    auto name = string_or_empty(operation, "operationId");
    if (name.empty()) name = method + path;
    std::ranges::replace_if(name, [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-'; }, '_');
    return name;
  }

  ApiOperation read_operation(std::string name, const std::string& path, const std::string& method,
                              const json::object& item, const json::object& operation) {
    ApiOperation made{.method = boost::to_upper_copy(method), .path = path};
    made.tool.name = std::move(name);
    auto description = string_or_empty(operation, "summary");
    if (const auto more = string_or_empty(operation, "description"); !more.empty()) {
      description += (description.empty() ? "" : "\n") + more;
    }
    if (description.empty()) description = made.method + " " + path;
    made.tool.description = to_utf8(description.substr(0, max_description_length));
    json::object properties;
    json::array required;
    for (const auto* holder : {&operation, &item}) {
      const auto* list = array_member(*holder, "parameters");
      if (!list) continue;
      for (const auto& one : *list) {
        if (one.is_object()) read_parameter(resolved(one.get_object()), made, properties, required);
      }
    }
    read_body(operation, made, properties, required);
    made.tool.input_schema = {
        {"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
    return made;
  }

  void read_parameter(const json::object& parameter, ApiOperation& made, json::object& properties,
                      json::array& required) {
    const auto name = string_or_empty(parameter, "name");
    const auto where = string_or_empty(parameter, "in");
    if (name.empty() || properties.contains(name)) return;
    if (where == "path") {
      made.parameters.push_back({name, ParameterPlace::path});
    } else if (where == "query") {
      made.parameters.push_back({name, ParameterPlace::query});
    } else if (where == "header") {
      made.parameters.push_back({name, ParameterPlace::header});
    } else {
      return;
    }
    const auto* schema = object_member(parameter, "schema");
    auto shown = schema ? inlined(*schema, 0) : json::object();
    if (const auto text = string_or_empty(parameter, "description"); !text.empty() && !shown.contains("description")) {
      shown["description"] = to_utf8(text.substr(0, max_description_length));
    }
    properties[name] = std::move(shown);
    if (where == "path" || is_true(parameter, "required")) required.emplace_back(name);
  }

  void read_body(const json::object& operation, ApiOperation& made, json::object& properties, json::array& required) {
    const auto* given = object_member(operation, "requestBody");
    if (!given) return;
    const auto& body = resolved(*given);
    const auto* content = object_member(body, "content");
    if (!content || content->empty()) return;
    const auto found = content->find("application/json");
    const auto& chosen = found == content->end() ? *content->begin() : *found;
    made.body_type = chosen.key();
    const auto* media = chosen.value().if_object();
    const auto* schema = media ? object_member(*media, "schema") : nullptr;
    properties["body"] = schema ? inlined(*schema, 0) : json::object();
    if (is_true(body, "required")) required.emplace_back("body");
  }

  /// A schema with its references inlined. Parts beyond the limits become empty schemas, which allow any value.
  json::object inlined(const json::object& schema, int depth) {
    json::object made;
    if (++nodes_ > max_nodes || depth > max_schema_depth) return made;
    for (const auto& [key, value] : resolved(schema)) {
      if (key != "$ref" && key != "example" && key != "examples") made[key] = inlined_value(value, depth + 1);
    }
    return made;
  }

  json::value inlined_value(const json::value& value, int depth) {
    if (value.is_object()) return inlined(value.get_object(), depth);
    if (!value.is_array()) return value;
    json::array made;
    for (const auto& one : value.get_array()) {
      if (++nodes_ > max_nodes) break;
      made.push_back(inlined_value(one, depth));
    }
    return made;
  }

  const json::value& document_;
  const WebUrl& url_;
  std::set<std::string> names_;  ///< of the accepted operations
  int nodes_ = 0;
};

}  // namespace

std::variant<ApiDescription, ApiProblem> read_openapi(std::string_view text, const WebUrl& url) {
  AGW_DEBUG_ASSERT(may_block());

  auto document = parse_json(text);
  if (!document) {
    try {
      document = yaml_to_json(text);
    } catch (const YamlError&) {
      return ApiProblem{"its url gives neither JSON nor YAML (of up to 1 MiB)"};
    }
  }
  return OpenApiReader(*document, url).read();
}

}  // namespace agw
