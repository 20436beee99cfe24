#include "features/actions/service.hpp"

#include <utility>

#include "base/json_member.hpp"
#include "base/text_of.hpp"
#include "base/text_or_json.hpp"
#include "features/actions/built_in_actions.hpp"
#include "features/actions/placeholders.hpp"
#include "features/actions/shell_action.hpp"
#include "tools/failed.hpp"
#include "tools/http_answer.hpp"

namespace agw {

namespace {

/// The builtin action that it stands for.
std::string built_in_of(const Extension& action) {
  auto tool = text_of(action.definition.members(), "tool");
  return tool.empty() ? action.name : tool;
}

ToolKind kind_of(const Extension& action) {
  const auto kind = text_of(action.definition.members(), "kind");
  if (kind == "prompt") return ToolKind::prompt_action;
  if (kind == "builtin") return ToolKind::builtin_action;
  if (kind == "shell") return ToolKind::shell_action;
  if (kind == "mcp") return ToolKind::mcp_action;
  return ToolKind::http_action;
}

ToolEffect effect_of(ToolKind kind) {
  if (kind == ToolKind::prompt_action || kind == ToolKind::builtin_action) return ToolEffect::reads;
  return kind == ToolKind::shell_action ? ToolEffect::executes : ToolEffect::calls_out;
}

/// Providers take none but schemas of objects.
json::object schema_of(const Extension& action) {
  auto schema = object_of(action.definition.members(), "input_schema");
  schema["type"] = "object";
  if (!schema.contains("properties")) schema["properties"] = json::object();
  return schema;
}

}  // namespace

Actions::Actions(Extensions& extensions, HttpClient& http, BlockingPool& blocking, const Clock& clock,
                 const Secrets& secrets, ActionLinks links)
    : extensions_(extensions),
      http_(http),
      blocking_(blocking),
      clock_(clock),
      secrets_(secrets),
      links_(std::move(links)) {
  extensions_.observe(*this);
}

void Actions::extension_changed(const Extension& extension, ExtensionAction, const std::string&) {
  if (extension.type == ExtensionType::action) current_ = false;
}

const std::vector<ToolPointer>& Actions::tools() {
  if (!std::exchange(current_, true)) {
    tools_.clear();
    for (auto& action : extensions_.list({.type = ExtensionType::action, .enabled = true})) {
      tools_.push_back(tool_of(std::move(action)));
    }
  }
  return tools_;
}

ToolPointer Actions::tool_of(ExtensionPointer action) {
  const auto kind = kind_of(*action);
  auto description = action->description.empty() ? "The action " + action->name : action->description;
  return std::make_shared<const Tool>(Tool{
      .description = {.name = action->name, .description = std::move(description), .input_schema = schema_of(*action)},
      .kind = kind,
      .effect = effect_of(kind),
      .judges_itself = kind == ToolKind::http_action || kind == ToolKind::mcp_action,
      .call = [this, action](const ToolCall& made) { return call(action, made); }});
}

Task<ToolOutcome> Actions::call(ExtensionPointer action, const ToolCall& call) {
  switch (kind_of(*action)) {
    case ToolKind::shell_action:
      co_return co_await run(*action, call);
    case ToolKind::mcp_action:
      co_return co_await call_integration(*action, call);
    case ToolKind::prompt_action:
      co_return ToolOutcome{.output = filled(text_of(action->definition.members(), "prompt"),
                                             [&](const std::string& name) { return text_or_json(call.input, name); })};
    case ToolKind::builtin_action:
      co_return call_built_in_action(built_in_of(*action), call.input, clock_.now());
    default:
      co_return co_await ask(action, call);
  }
}

Task<ToolOutcome> Actions::ask(ExtensionPointer action, const ToolCall& call) {
  using Made = std::pair<std::variant<WebRequest, ActionProblem>, FilledSecrets>;
  auto [made, secrets_of_request] = co_await blocking_.run([&secrets = secrets_, action, input = call.input]() -> Made {
    FilledSecrets noted;
    const auto expand = [&](std::string_view text) { return secrets.expand(text, &noted); };
    try {
      auto request = http_action_request(*action, input, expand);
      return {std::move(request), std::move(noted)};
    } catch (const SecretError& error) {
      return {ActionProblem{error.what()}, FilledSecrets()};
    }
  });
  if (const auto* problem = std::get_if<ActionProblem>(&made)) co_return failed(problem->text);
  auto request = std::get<WebRequest>(std::move(made));
  request.refusal = [&call](const WebUrl& url) { return call.judge({.host = url.host()}).reason; };
  auto answer = co_await ask_web(http_, std::move(request), call.stop);
  answer.problem = secrets_of_request.hidden_in(answer.problem);
  auto outcome = http_answer(answer);
  // Services quote what they were sent, where they refuse it above all.
  outcome.output = secrets_of_request.hidden_in_answer(outcome.output);
  co_return outcome;
}

Task<ToolOutcome> Actions::run(const Extension& action, const ToolCall& call) {
  auto made = shell_action_command(text_of(action.definition.members(), "command"), call.input);
  if (made.command.empty()) co_return failed("the action has no command");
  if (!links_.run_command) co_return failed("commands cannot be run");
  co_return co_await links_.run_command(call, std::move(made.command), std::move(made.environment),
                                        to_json(call.input) + "\n");
}

Task<ToolOutcome> Actions::call_integration(const Extension& action, const ToolCall& call) {
  auto integration = text_of(action.definition.members(), "integration");
  auto tool = text_of(action.definition.members(), "tool");
  if (integration.empty() || tool.empty()) co_return failed("the action names no integration and tool");
  if (!links_.call_integration) co_return failed("integrations cannot be called");
  co_return co_await links_.call_integration(call, std::move(integration), std::move(tool));
}

}  // namespace agw
