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

/// The request of an `http` action's call. Secrets are expanded first, so that the input cannot name any, and the input
/// cannot change the scheme, the host or the port, nor inject headers. Throws SecretError. Blocks if `expand` does.
/// Example: src/features/actions/http_action_test.cpp: HttpAction.FillsItsUrl
std::variant<WebRequest, ActionProblem> http_action_request(const Extension& action, const json::object& input,
                                                            const ExpandSecrets& expand);

/// A shell command and its variables.
struct ShellActionCommand {
  std::string command;
  std::map<std::string, std::string> environment;
};

/// The command of a `shell` action's call. Each `{{name}}` becomes a shell variable that holds the member, never part
/// of the command: input is always data.
ShellActionCommand shell_action_command(std::string_view form, const json::object& input);

/// The result of the `builtin` action of that name.
ToolOutcome call_built_in_action(const std::string& name, const json::object& input, Timestamp now);

}  // namespace agw
