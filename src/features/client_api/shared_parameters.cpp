#include "features/client_api/shared_parameters.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/containers.hpp"
#include "features/client_api/pictures.hpp"
#include "features/client_api/tool_parameters.hpp"

namespace agw {

void read_cache_mark(Parameters& object, CallOptions& options) {
  const auto* member = object.object("cache_control");
  if (!member) return;
  Parameters mark(*member, object.path_of("cache_control"));
  if (mark.required_text("type") != "ephemeral") throw bad_parameter(mark.path_of("type"), "must be ephemeral");
  const auto ttl = mark.text("ttl").value_or("");
  if (!ttl.empty() && ttl != "5m" && ttl != "1h") throw bad_parameter(mark.path_of("ttl"), "must be 5m or 1h");
  // Uses the longest duration of the request for all its marks.
  if (options.cache_ttl != "1h" && !ttl.empty()) options.cache_ttl = ttl;
  mark.ignore({"scope"});
  mark.finish();
}

void finish_part(Parameters& part, CallOptions& options) {
  read_cache_mark(part, options);
  part.finish();
}

void add_text_part(std::string& text, std::string_view part) {
  if (part.empty()) return;
  if (!text.empty()) text += '\n';
  text += part;
}

void ask_lone_instructions(ModelRequest& call) {
  if (call.messages.empty() && !call.system.empty())
    call.messages.push_back({.text = std::exchange(call.system, std::string())});
}

std::string picture_detail(Parameters& picture) {
  constexpr std::array<std::string_view, 4> levels{"auto", "low", "high", "original"};
  auto detail = picture.text("detail").value_or("auto");
  if (!contains(levels, detail)) throw bad_parameter(picture.path_of("detail"), "must be auto, low, high or original");
  return detail == "auto" ? std::string() : std::move(detail);
}

void add_picture(ClientRequest& request, const std::string& url, std::string detail, const std::string& param) {
  auto& messages = request.call.messages;
  auto& message = messages.back();
  const bool is_elsewhere = url.starts_with("http://") || url.starts_with("https://");
  if (is_elsewhere) request.pictures.push_back({messages.size() - 1, message.images.size(), url, param});
  auto& image = message.images.emplace_back(is_elsewhere ? Image{} : picture_in(url, param));
  image.detail = std::move(detail);
  image.text_before = message.text.size();
}

std::string read_verbosity(Parameters& object) {
  auto verbosity = object.text("verbosity").value_or("");
  if (!verbosity.empty() && verbosity != "low" && verbosity != "medium" && verbosity != "high")
    throw bad_parameter(object.path_of("verbosity"), "must be low, medium or high");
  return verbosity;
}

std::optional<std::string> read_effort(Parameters& object, std::string_view name) {
  constexpr std::array<std::string_view, 7> efforts{"none", "minimal", "low", "medium", "high", "xhigh", "max"};
  auto effort = object.text(name);
  if (effort && !contains(efforts, *effort))
    throw bad_parameter(object.path_of(name), "must be none, minimal, low, medium, high, xhigh or max");
  return effort;
}

void read_labels(Parameters& body, CallOptions& options) {
  options.service_tier = body.text("service_tier").value_or("");
  for (const auto* name : {"user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"}) {
    if (const auto text = body.text(name)) options.labels[name] = *text;
  }
  if (const auto* metadata = body.object("metadata"); metadata && !metadata->empty())
    options.labels["metadata"] = *metadata;
  const auto* user = options.labels.if_contains("safety_identifier");
  if (!user) user = options.labels.if_contains("user");
  if (user) options.user_id = user->get_string();
}

void read_allowed_tools(Parameters& allowed, ModelRequest& call, NamedTool (*read_name)(Parameters& tool)) {
  const auto mode = allowed.required_text("mode");
  if (mode != "auto" && mode != "required") throw bad_parameter(allowed.path_of("mode"), "must be auto or required");
  call.options.tool_choice = ToolChoice{mode == "auto" ? ToolChoice::Kind::automatic : ToolChoice::Kind::required};
  const auto* tools = allowed.array("tools", max_client_tools);
  if (!tools) throw bad_parameter(allowed.path_of("tools"), "is missing");
  std::vector<ToolDescription> left;
  for (std::size_t i = 0; i < tools->size(); ++i) {
    const auto path = fmt::format("{}[{}]", allowed.path_of("tools"), i);
    Parameters tool(object_at((*tools)[i], path), path);
    const auto [name, param] = read_name(tool);
    const auto found = std::ranges::find(call.tools, name, &ToolDescription::name);
    if (found == call.tools.end()) throw bad_parameter(param, "no tool has this name");
    if (!contains(left, name, &ToolDescription::name)) left.push_back(*found);
    tool.finish();
  }
  call.tools = std::move(left);
}

void read_tool_choice(Parameters& body, ModelRequest& call,
                      void (*read_object)(Parameters& choice, ModelRequest& call)) {
  const auto* value = body.find("tool_choice");
  if (!value) return;
  if (const auto* object = value->if_object()) {
    Parameters choice(*object, "tool_choice");
    read_object(choice, call);
    return choice.finish();
  }
  using Kind = ToolChoice::Kind;
  const auto text = body.required_text("tool_choice");
  if (text != "auto" && text != "none" && text != "required")
    throw bad_parameter("tool_choice", "must be auto, none, required, a function or allowed_tools");
  call.options.tool_choice = ToolChoice{text == "none"       ? Kind::none
                                        : text == "required" ? Kind::required
                                                             : Kind::automatic};
}

void check_tool_choice(const ModelRequest& call) {
  const auto& choice = call.options.tool_choice;
  const bool demands =
      choice && (choice->kind == ToolChoice::Kind::required || choice->kind == ToolChoice::Kind::named);
  if (demands && call.tools.empty() && !call.deferred_tools)
    throw bad_parameter("tool_choice", "there are no tools to choose from");
  if (!choice || choice->kind != ToolChoice::Kind::named) return;
  if (!contains(call.tools, choice->name, &ToolDescription::name))
    throw bad_parameter("tool_choice", fmt::format("no tool has the name {}", choice->name));
}

void read_answer_schema(Parameters& schema, ResponseFormat& format) {
  format.kind = ResponseFormat::Kind::json_schema;
  format.name = schema.required_text("name");
  check_tool_name(format.name, schema.path_of("name"));
  format.description = schema.text("description").value_or("");
  format.schema = tool_schema(schema.find("schema"), schema.path_of("schema"));
  format.strict = schema.flag("strict");
  schema.finish();
}

void refuse_obfuscation(Parameters& stream_options) {
  if (stream_options.flag("include_obfuscation").value_or(false))
    throw bad_parameter(stream_options.path_of("include_obfuscation"), "is not possible", "unsupported_value");
}

}  // namespace agw
