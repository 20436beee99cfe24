// Reads the settings of Anthropic's Messages; anthropic_conversation.cpp reads the conversation.
// docs/contract/clients.md has the table of what is accepted.

#include "features/client_api/anthropic_messages.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/containers.hpp"
#include "features/client_api/anthropic_conversation.hpp"
#include "features/client_api/parameters.hpp"
#include "features/client_api/shared_parameters.hpp"
#include "features/client_api/tool_parameters.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

constexpr std::int64_t min_thinking_budget = 1'024;
constexpr std::size_t max_stop_sequences = 64;

/// A tool's declaration.
struct DeclaredTool {
  ToolDescription description;
  bool is_deferred = false;
};

DeclaredTool read_tool(const json::object& object, const std::string& path, CallOptions& options) {
  Parameters tool(object, path);
  if (const auto type = tool.text("type"); type && *type != "custom") {
    throw bad_parameter(tool.path_of("type"), fmt::format("{} is a tool of Anthropic's own: leave it out", *type),
                        "unsupported_value");
  }
  DeclaredTool declared;
  auto& read = declared.description;
  read.name = tool.required_text("name");
  check_tool_name(read.name, tool.path_of("name"), max_anthropic_tool_name);
  read.description = tool.text("description").value_or("");
  const auto* schema = tool.find("input_schema");
  if (!schema) throw bad_parameter(tool.path_of("input_schema"), "is missing");
  read.input_schema = tool_schema(schema, tool.path_of("input_schema"));
  read.strict = tool.flag("strict");
  if (const auto* examples = tool.array("input_examples", 64)) read.examples = *examples;
  declared.is_deferred = tool.flag("defer_loading").value_or(false);
  tool.ignore({"eager_input_streaming"});
  if (const auto* callers = tool.array("allowed_callers", 8); callers && *callers != json::array{"direct"}) {
    throw bad_parameter(tool.path_of("allowed_callers"), "must be [\"direct\"]", "unsupported_value");
  }
  finish_part(tool, options);
  return declared;
}

/// Adds the definitions of deferred tools to which tool results refer.
void define_found_tools(ModelRequest& call) {
  for (const auto& message : call.messages) {
    for (const auto* found : referenced_tools(message, call.deferred_tools)) {
      if (!contains(call.tools, found->name, &ToolDescription::name)) call.tools.push_back(*found);
    }
  }
}

void defer(std::vector<ToolDescription> deferred, ModelRequest& call) {
  if (deferred.empty()) return;
  if (call.tools.empty()) throw bad_parameter("tools", "one at least must be without defer_loading");
  std::ranges::sort(deferred, {}, &ToolDescription::name);
  call.deferred_tools = std::make_shared<const std::vector<ToolDescription>>(std::move(deferred));
  define_found_tools(call);
}

void read_anthropic_tools(Parameters& body, ModelRequest& call) {
  const auto* tools = body.array("tools", max_client_tools);
  std::set<std::string> names;
  std::vector<ToolDescription> deferred;
  for (std::size_t i = 0; tools && i < tools->size(); ++i) {
    const auto path = fmt::format("tools.{}", i);
    auto [tool, is_deferred] = read_tool(object_at((*tools)[i], path), path, call.options);
    if (!names.insert(tool.name).second) throw bad_parameter(path + ".name", "another tool has this name");
    (is_deferred ? deferred : call.tools).push_back(std::move(tool));
  }
  defer(std::move(deferred), call);
}

ToolChoice::Kind kind_of(const std::string& type, const std::string& path) {
  using Kind = ToolChoice::Kind;
  if (type == "auto") return Kind::automatic;
  if (type == "any") return Kind::required;
  if (type == "tool") return Kind::named;
  if (type == "none") return Kind::none;
  throw bad_parameter(path, "must be auto, any, tool or none");
}

void read_anthropic_tool_choice(Parameters& body, ModelRequest& call) {
  const auto* object = body.object("tool_choice");
  if (!object) return;
  Parameters member(*object, "tool_choice");
  auto& choice = call.options.tool_choice.emplace();
  choice.kind = kind_of(member.required_text("type"), member.path_of("type"));
  if (choice.kind == ToolChoice::Kind::named) {
    choice.name = member.required_text("name");
    const bool is_known =
        is_deferred(call.deferred_tools, choice.name) || contains(call.tools, choice.name, &ToolDescription::name);
    if (!is_known) {
      throw bad_parameter(member.path_of("name"), "no tool has this name");
    }
  }
  if (choice.kind == ToolChoice::Kind::required && call.tools.empty()) {
    throw bad_parameter("tool_choice", "there are no tools to choose from");
  }
  if (member.flag("disable_parallel_tool_use").value_or(false)) call.options.parallel_tool_calls = false;
  member.finish();
}

/// Reads `thinking`. If it has no budget, the effort applies. A budget is an upper bound, an effort a hint, and Claude
/// Code sends both to every model, so models that cannot think answer without.
ThinkingDisplay read_thinking(Parameters& body, CallOptions& options) {
  const auto* object = body.object("thinking");
  if (!object) return ThinkingDisplay::none;
  Parameters thinking(*object, "thinking");
  const auto type = thinking.required_text("type");
  const auto display = thinking.text("display").value_or("summarized");
  if (display != "summarized" && display != "omitted" && display != "updates") {
    throw bad_parameter(thinking.path_of("display"), "must be summarized, updates or omitted");
  }
  if (type == "enabled") {
    options.reasoning_budget = thinking.integer("budget_tokens", min_thinking_budget, max_token_count);
    if (!options.reasoning_budget) throw bad_parameter(thinking.path_of("budget_tokens"), "is missing");
  } else if (type == "disabled") {
    options.reasoning_effort = "none";
    return ThinkingDisplay::none;
  } else if (type == "adaptive" || type == "between_tools") {
    options.reasoning_effort = "high";
  } else {
    throw bad_parameter(thinking.path_of("type"), "must be enabled, disabled, adaptive or between_tools");
  }
  thinking.finish();
  options.thinks_if_able = true;
  return display == "omitted" ? ThinkingDisplay::omitted : ThinkingDisplay::shown;
}

void read_output_format(Parameters& config, CallOptions& options) {
  const auto* object = config.object("format");
  if (!object) return;
  Parameters format(*object, config.path_of("format"));
  if (format.required_text("type") != "json_schema") {
    throw bad_parameter(format.path_of("type"), "must be json_schema");
  }
  const auto* schema = format.find("schema");
  if (!schema) throw bad_parameter(format.path_of("schema"), "is missing");
  options.response_format = {.kind = ResponseFormat::Kind::json_schema,
                             .name = "answer",
                             .schema = tool_schema(schema, format.path_of("schema")),
                             .strict = true};
  format.finish();
}

/// Reads `output_config`. `effort` is that of the conversation, which counts more. A program that requests an effort
/// also gets thinking blocks, because it must send them back.
void read_output_config(Parameters& body, CallOptions& options, ThinkingDisplay& thinking,
                        std::optional<std::string> effort) {
  if (const auto* object = body.object("output_config")) {
    Parameters config(*object, "output_config");
    auto general = read_anthropic_effort(config);
    if (!effort) effort = std::move(general);
    read_output_format(config, options);
    config.finish();
  }
  if (!effort || options.reasoning_effort == "none" || options.reasoning_budget) return;
  options.reasoning_effort = std::move(effort);
  options.thinks_if_able = true;
  if (thinking == ThinkingDisplay::none) thinking = ThinkingDisplay::shown;
}

void read_stop_sequences(Parameters& body, CallOptions& options) {
  const auto* sequences = body.array("stop_sequences", max_stop_sequences);
  for (std::size_t i = 0; sequences && i < sequences->size(); ++i) {
    const auto* text = (*sequences)[i].if_string();
    if (!text || text->empty()) {
      throw bad_parameter(fmt::format("stop_sequences.{}", i), "must be a string that is not empty");
    }
    options.stop.emplace_back(*text);
  }
}

/// Reads `service_tier` and stores it by OpenAI's name.
void read_anthropic_tier(Parameters& body, CallOptions& options) {
  const auto tier = body.text("service_tier").value_or("auto");
  if (tier != "auto" && tier != "standard_only")
    throw bad_parameter("service_tier", "must be auto or standard_only", "unsupported_value");
  if (tier == "standard_only") options.service_tier = "default";
}

/// Accepts only the edit that drops the thinking of earlier answers, because services do that anyway.
void check_context_management(Parameters& body) {
  constexpr std::string_view possible = "clear_thinking_";
  const auto* object = body.object("context_management");
  if (!object) return;
  Parameters management(*object, "context_management");
  const auto* edits = management.array("edits", 16);
  for (std::size_t i = 0; edits && i < edits->size(); ++i) {
    const auto path = fmt::format("context_management.edits.{}", i);
    Parameters edit(object_at((*edits)[i], path), path);
    if (!edit.required_text("type").starts_with(possible)) {
      throw bad_parameter(edit.path_of("type"), "must be clear_thinking_20251015", "unsupported_value");
    }
    edit.ignore({"keep"});
    edit.finish();
  }
  management.finish();
}

/// Rejects values that the gateway does not support.
void reject_anthropic_only(Parameters& body) {
  if (body.find("container")) throw bad_parameter("container", "is not possible", "unsupported_parameter");
  if (const auto* servers = body.array("mcp_servers", max_client_tools); servers && !servers->empty()) {
    throw bad_parameter("mcp_servers", "is not possible: register the server as an integration",
                        "unsupported_parameter");
  }
  if (body.text("speed").value_or("standard") != "standard") {
    throw bad_parameter("speed", "must be standard", "unsupported_value");
  }
  check_context_management(body);
}

/// Nothing is held between requests, so a program may ask for that, but not continue.
void reject_continued_thread(Parameters& body) {
  const auto* object = body.object("thread");
  if (!object) return;
  Parameters thread(*object, "thread");
  if (thread.required_text("type") != "create") {
    throw client_error(404, "thread: no conversation is held here: send all of its messages", "thread",
                       "thread_not_found");
  }
  thread.finish();
}

/// Reads `system` without the line for the vendor's billing with which Claude Code begins it. The line has a hash that
/// changes with the conversation or even each request, so no service could reuse what it has cached of the prompt.
std::string read_system(const json::value& system, CallOptions& options) {
  auto text = anthropic_text(system, "system", options);
  if (text.starts_with("x-anthropic-billing-header:")) text.erase(0, std::min(text.size(), text.find('\n')) + 1);
  return text;
}

AnthropicMessages read_common(Parameters& body) {
  reject_continued_thread(body);
  AnthropicMessages read;
  auto& [request, thinking] = read;
  request.model = body.required_text("model");
  const auto* messages = body.array("messages", max_client_messages);
  if (!messages || messages->empty()) throw bad_parameter("messages", "must be an array with at least one message");
  if (const auto* system = body.find("system")) request.call.system = read_system(*system, request.call.options);
  auto effort = read_anthropic_conversation(*messages, request);
  read_anthropic_tools(body, request.call);
  read_anthropic_tool_choice(body, request.call);
  thinking = read_thinking(body, request.call.options);
  read_output_config(body, request.call.options, thinking, std::move(effort));
  reject_anthropic_only(body);
  read_cache_mark(body, request.call.options);
  request.call.options.inference_geo = body.text("inference_geo").value_or("");
  body.ignore({"diagnostics", "user_profile_id", "workspace_id", "betas"});
  return read;
}

}  // namespace

AnthropicMessages read_anthropic_messages(const json::object& object) {
  Parameters body(object);
  auto read = read_common(body);
  auto& call = read.request.call;
  const auto limit = body.integer("max_tokens", 1, max_token_count);
  if (!limit) throw bad_parameter("max_tokens", "is missing");
  call.max_output_tokens = *limit;
  read_stop_sequences(body, call.options);
  call.temperature = body.number("temperature", 0, 1);
  call.options.top_p = body.number("top_p", 0, 1);
  call.options.top_k = body.integer("top_k", 0, max_token_count);
  read.request.stream = body.flag("stream").value_or(false);
  if (const auto* object_of_metadata = body.object("metadata")) {
    Parameters metadata(*object_of_metadata, "metadata");
    read.request.thread_id = metadata.text("thread_id");
    call.options.user_id = metadata.text("user_id").value_or("");
    metadata.finish();
  }
  read_anthropic_tier(body, call.options);
  body.finish();
  return read;
}

ClientRequest read_anthropic_count(const json::object& object) {
  Parameters body(object);
  auto read = read_common(body);
  body.finish();
  return std::move(read.request);
}

}  // namespace agw
