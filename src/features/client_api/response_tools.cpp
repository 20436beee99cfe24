// Reads the tools of OpenAI's Responses, which may be in namespaces, and the choice among them. A model knows neither
// namespaces nor tools that take free text, so it gets functions.

#include "features/client_api/response_tools.hpp"

#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/containers.hpp"
#include "features/client_api/shared_parameters.hpp"
#include "features/client_api/tool_parameters.hpp"

namespace agw {

namespace {

/// Services may not know tools that take free text, and not enforce a grammar.
void read_free_text_tool(Parameters& tool, ToolDescription& read) {
  read.input_schema = json::object{{"type", "object"},
                                   {"properties", json::object{{free_text_argument, json::object{{"type", "string"}}}}},
                                   {"required", json::array{json::value(free_text_argument)}},
                                   {"additionalProperties", false}};
  const auto* object = tool.object("format");
  if (!object) return;
  Parameters format(*object, tool.path_of("format"));
  if (format.required_text("type") == "grammar") {
    read.description += fmt::format("\n\n{} must follow this {} grammar:\n{}", free_text_argument,
                                    format.required_text("syntax"), format.required_text("definition"));
  }
  format.finish();
}

/// A search that the program makes is a function for the model. One that OpenAI makes is not needed, because deferred
/// tools are given to the model at once.
void read_tool_search(Parameters& tool, ModelRequest& call) {
  const bool is_programs = tool.text("execution") == "client";
  ToolDescription read{.name = std::string(tool_search_name),
                       .description = tool.text("description").value_or(""),
                       .input_schema = tool_schema(tool.find("parameters"), tool.path_of("parameters"))};
  tool.finish();
  if (is_programs) call.tools.push_back(std::move(read));
}

void read_function(Parameters& tool, const std::string& space, ModelRequest& call) {
  const auto type = tool.required_text("type");
  if (type == "tool_search") return read_tool_search(tool, call);
  if (type != "function" && type != "custom") {
    throw bad_parameter(tool.path_of("type"), fmt::format("must be function or custom: {} is not possible here", type),
                        "unsupported_value");
  }
  if (call.tools.size() == max_client_tools)
    throw bad_parameter("tools", fmt::format("must have at most {} functions", max_client_tools));
  ToolDescription read;
  read.name = name_in_namespace(space, tool.required_text("name"));
  check_tool_name(read.name, tool.path_of("name"));
  const bool is_deferred = tool.flag("defer_loading").value_or(false);
  const bool is_known = contains(call.tools, read.name, &ToolDescription::name);
  if (is_known && !is_deferred) throw bad_parameter(tool.path_of("name"), "another tool has this name");
  read.description = tool.text("description").value_or("");
  if (type == "custom") {
    read_free_text_tool(tool, read);
  } else {
    read.input_schema = tool_schema(tool.find("parameters"), tool.path_of("parameters"));
    read.strict = tool.flag("strict");
  }
  tool.finish();
  // Several searches may find the same one.
  if (!is_known) call.tools.push_back(std::move(read));
}

/// Appends the namespace's description to that of its first function, because models do not know namespaces.
void describe_namespace(Parameters& space, const std::string& name, ToolDescription& first) {
  const auto text = space.text("description").value_or("");
  if (!text.empty()) first.description = fmt::format("{}\n\n({}: {})", first.description, name, text);
}

/// Returns the tool's name for the model.
NamedTool read_allowed_tool(Parameters& tool) {
  if (const auto type = tool.required_text("type"); type != "function" && type != "custom")
    throw bad_parameter(tool.path_of("type"), "must be function or custom");
  const auto space = tool.text("namespace").value_or("");
  return {name_in_namespace(space, tool.required_text("name")), tool.path_of("name")};
}

/// Appends the tools in items of that type.
void append_tools(json::array& tools, const json::array& items, std::string_view type) {
  for (const auto& item : items) {
    const auto* object = item.if_object();
    const auto* added = object && string_or_empty(*object, "type") == type ? array_member(*object, "tools") : nullptr;
    if (added) tools.insert(tools.end(), added->begin(), added->end());
  }
}

}  // namespace

std::string name_in_namespace(std::string_view space, std::string_view name) {
  return space.empty() ? std::string(name) : fmt::format("{}__{}", space, name);
}

std::string found_tools_text(const json::array& tools) {
  ModelRequest found;
  read_response_tools(tools, found);
  std::string text;
  for (const auto& tool : found.tools) add_text_part(text, fmt::format("The tool {} can be called.", tool.name));
  return text.empty() ? "No tool was found." : text;
}

json::array tools_of(Parameters& body, const json::array& input) {
  const auto* sent = body.array("tools", max_client_tools);
  auto tools = sent ? *sent : json::array();
  append_tools(tools, input, "additional_tools");
  append_tools(tools, input, "tool_search_output");
  return tools;
}

json::array found_tools(const json::array& conversation) {
  json::array tools;
  append_tools(tools, conversation, "tool_search_output");
  return tools;
}

void read_response_tools(const json::array& tools, ModelRequest& call) {
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const auto path = fmt::format("tools[{}]", i);
    Parameters tool(object_at(tools[i], path), path);
    if (tool.required_text("type") != "namespace") {
      read_function(tool, {}, call);
      continue;
    }
    const auto space = tool.required_text("name");
    const auto* functions = tool.array("tools", max_client_tools);
    for (std::size_t j = 0; functions && j < functions->size(); ++j) {
      const auto at = fmt::format("{}[{}]", tool.path_of("tools"), j);
      Parameters function(object_at((*functions)[j], at), at);
      const auto known = call.tools.size();
      read_function(function, space, call);
      if (j == 0 && call.tools.size() > known) describe_namespace(tool, space, call.tools.back());
    }
    tool.ignore({"description"});
    tool.finish();
  }
}

void read_chosen_response_tools(Parameters& choice, ModelRequest& call) {
  const auto type = choice.required_text("type");
  if (type == "allowed_tools") return read_allowed_tools(choice, call, read_allowed_tool);
  if (type != "function" && type != "custom")
    throw bad_parameter("tool_choice.type", "must be function, custom or allowed_tools");
  call.options.tool_choice = ToolChoice{ToolChoice::Kind::named, choice.required_text("name")};
}

}  // namespace agw
