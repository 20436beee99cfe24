#include "features/actions/service.hpp"

#include <utility>

#include "base/json/json_values.hpp"
#include "features/actions/kinds.hpp"
#include "features/actions/placeholders.hpp"
#include "tools/tool.hpp"
#include "tools/web/http_response.hpp"

namespace agw {

namespace {

/// The name of the built-in action to which the record refers.
std::string built_in_of(const Extension& action) {
  auto tool = string_or_empty(action.definition.members(), "tool");
  return tool.empty() ? action.name : tool;
}

ToolKind kind_of(const Extension& action) {
  const auto kind = string_or_empty(action.definition.members(), "kind");
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

/// Providers accept only object schemas.
json::object schema_of(const Extension& action) {
  auto schema = object_or_empty(action.definition.members(), "input_schema");
  schema["type"] = "object";
  if (!schema.contains("properties")) schema["properties"] = json::object();
  return schema;
}

}  // namespace

Actions::Actions(Hub& hub, Extensions& extensions, HttpClient& http, BlockingPool& blocking, const Clock& clock,
                 const Secrets& secrets, Integrations& integrations, Shell& shell)
    : extensions_(extensions),
      http_(http),
      blocking_(blocking),
      clock_(clock),
      secrets_(secrets),
      integrations_(integrations),
      shell_(shell),
      listening_(hub, *this) {}

void Actions::deliver(const DomainEvent& event) {
  const auto* extension = event.record.as<Extension>();
  if (extension && extension->type == ExtensionType::action) current_ = false;
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
      .authorizes_itself =
          kind == ToolKind::shell_action || kind == ToolKind::http_action || kind == ToolKind::mcp_action,
      .call = [this, action](const ToolCall& made) { return call(action, made); }});
}

Task<ToolOutcome> Actions::call(ExtensionPointer action, const ToolCall& call) {
  const auto kind = kind_of(*action);
  const bool is_filled = kind == ToolKind::prompt_action || kind == ToolKind::http_action;
  if (is_filled && fills_too_much(action->definition.members(), call.input))
    co_return failed("the input is too long for all the places of the action that it fills");
  switch (kind) {
    case ToolKind::shell_action:
      co_return co_await run(*action, call);
    case ToolKind::mcp_action:
      co_return co_await call_integration(*action, call);
    case ToolKind::prompt_action:
      co_return ToolOutcome{.output = filled(string_or_empty(action->definition.members(), "prompt"),
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
  request.refusal = [&call](const WebUrl& url) { return call.authorize({.host = url.host()}).reason; };
  auto response = co_await send_web_request(http_, std::move(request), call.stop);
  response.problem = secrets_of_request.hidden_in(response.problem);
  auto outcome = http_response(response);
  // Services quote requests, especially in errors.
  outcome.output = secrets_of_request.hidden_in_response(outcome.output);
  co_return outcome;
}

Task<ToolOutcome> Actions::run(const Extension& action, const ToolCall& call) {
  auto form = string_or_empty(action.definition.members(), "command");
  auto made = shell_action_command(form, call.input);
  if (made.command.empty()) co_return failed("the action has no command");
  using Given = std::pair<std::shared_ptr<const ProgramSecrets>, FilledSecrets>;
  Given given;
  try {
    auto declared = declared_secrets(action.definition.members());
    given = co_await blocking_.run([&secrets = secrets_, declared = std::move(declared)]() -> Given {
      FilledSecrets noted;
      auto secrets_of_program = secrets.for_program(declared, &noted);
      return {std::move(secrets_of_program), std::move(noted)};
    });
  } catch (const SecretError& error) {
    co_return failed(error.what());
  }
  auto outcome = co_await shell_.run(call, {.command = std::move(made.command),
                                            .shown = std::move(form),
                                            .time = Shell::max_time,
                                            .environment = std::move(made.environment),
                                            .input = to_json(call.input) + "\n",
                                            .secrets = given.first});
  // Remote hosts quote requests, especially in errors.
  if (given.first) outcome.output = given.second.hidden_in_response(outcome.output);
  co_return outcome;
}

Task<ToolOutcome> Actions::call_integration(const Extension& action, const ToolCall& call) {
  auto integration = string_or_empty(action.definition.members(), "integration");
  auto tool = string_or_empty(action.definition.members(), "tool");
  if (integration.empty() || tool.empty()) co_return failed("the action names no integration and tool");
  co_return co_await integrations_.call(call, std::move(integration), std::move(tool));
}

}  // namespace agw
