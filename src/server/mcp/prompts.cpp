#include "server/mcp/prompts.hpp"

#include <string>
#include <utility>

#include "api/error.hpp"
#include "base/json/json_values.hpp"
#include "features/engine/command_expansion.hpp"
#include "features/integrations/protocol.hpp"
#include "server/mcp/message.hpp"

namespace agw {

namespace {

constexpr std::string_view only_argument = "arguments";

bool takes_arguments(const Extension& command) {
  return string_or_empty(command.definition.members(), "prompt").find('$') != std::string::npos;
}

std::string arguments_in(const json::object& params) {
  const auto given = object_or_empty(params, "arguments");
  for (const auto& argument : given) {
    if (argument.key() != only_argument)
      throw McpError(rpc_code::invalid_params, "unknown argument " + std::string(argument.key()));
    if (!argument.value().is_string()) throw McpError(rpc_code::invalid_params, "arguments must be a string");
  }
  return string_or_empty(given, only_argument);
}

}  // namespace

json::array CommandPrompts::list() const {
  json::array prompts;
  for (const auto& command : extensions_.list({.type = ExtensionType::command, .enabled = true})) {
    json::object prompt{{"name", command->name}, {"title", "/" + command->name}, {"description", command->description}};
    if (takes_arguments(*command)) {
      prompt["arguments"] = json::array{json::object{
          {"name", only_argument}, {"description", "The text after the command's name"}, {"required", false}}};
    }
    prompts.emplace_back(std::move(prompt));
  }
  return prompts;
}

bool CommandPrompts::has(std::string_view name) const {
  const auto command = extensions_.find(ExtensionType::command, name);
  return command && command->enabled && command->name == name;
}

json::object CommandPrompts::get(const json::object& params) const {
  const auto name = string_or_empty(params, "name");
  if (!has(name)) throw McpError(rpc_code::invalid_params, "unknown prompt " + name);
  const auto command = extensions_.find(ExtensionType::command, name);
  try {
    const auto expanded = expand_command('/' + name + ' ' + arguments_in(params), extensions_);
    return {{"description", command->description},
            {"messages", json::array{json::object{
                             {"role", "user"},
                             {"content", json::object{{"type", "text"}, {"text", expanded ? expanded->text : ""}}}}}}};
  } catch (const ApiError& error) {
    throw McpError(rpc_code::invalid_params, error.error());
  }
}

}  // namespace agw
