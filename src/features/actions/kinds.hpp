#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "base/json/json.hpp"
#include "base/time/time.hpp"
#include "features/extensions/types.hpp"
#include "io/http/web_request.hpp"

namespace agw {

struct ToolOutcome;

/// Expands `${secret:NAME}`. Throws SecretError.
using ExpandSecrets = std::function<std::string(std::string_view text)>;

/// Why a call of an action is invalid, for the model.
struct ActionProblem {
  std::string text;
};

/// Builds the request for a call of an `http` action. Secrets are expanded before the input is inserted, so the input
/// cannot refer to any. The input can neither change the scheme, host or port nor inject headers. Throws SecretError.
/// Blocks if `expand` does.
/// Example: src/features/actions/http_action_test.cpp: HttpAction.FillsItsUrl
std::variant<WebRequest, ActionProblem> http_action_request(const Extension& action, const json::object& input,
                                                            const ExpandSecrets& expand);

/// A shell command and its variables.
struct ShellActionCommand {
  std::string command;
  std::map<std::string, std::string> environment;
};

/// Builds the command for a call of a `shell` action. Each `{{name}}` becomes a reference to a shell variable with the
/// member's value. Input is never part of the command.
ShellActionCommand shell_action_command(std::string_view form, const json::object& input);

/// Calls the `builtin` action with that name.
ToolOutcome call_built_in_action(const std::string& name, const json::object& input, Timestamp now);

}  // namespace agw
