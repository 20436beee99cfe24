#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "features/actions/kinds.hpp"
#include "features/actions/placeholders.hpp"

namespace agw {

namespace {

/// Environment variables cannot contain NUL.
std::string without_nul(std::string text) { return text.substr(0, text.find('\0')); }

}  // namespace

ShellActionCommand shell_action_command(std::string_view form, const json::object& input) {
  ShellActionCommand made;
  std::map<std::string, std::string> variables;
  made.command = filled(form, [&](const std::string& name) {
    auto& variable = variables[name];
    if (variable.empty()) variable = fmt::format("AGW_INPUT_{}", variables.size());
    made.environment[variable] = without_nul(text_or_json(input, name));
    return "${" + variable + "}";
  });
  // Two placeholders with one variable would get the same value.
  AGW_ASSERT(made.environment.size() == variables.size());
  return made;
}

}  // namespace agw
