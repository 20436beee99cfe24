#include "features/apps/plan.hpp"

#include "api/error.hpp"

namespace agw {

namespace {

AppType type_of(const json::object& definition) {
  if (const auto named = string_member(definition, "type")) {
    if (const auto known = from_text<AppType>(*named)) return *known;
  }
  const bool has_only_files = definition.contains("path") && !definition.contains("command");
  return has_only_files ? AppType::statics : AppType::command;
}

std::map<std::string, std::string> environment_of(const json::object& definition) {
  std::map<std::string, std::string> environment;
  const auto* given = definition.if_contains("env");
  if (!given || !given->is_object()) return environment;
  for (const auto& member : given->get_object()) {
    if (member.value().is_string()) environment[member.key()] = member.value().get_string();
  }
  return environment;
}

bool has_nul(const std::string& text) { return text.find('\0') != text.npos; }

}  // namespace

AppPlan app_plan(const Extension& extension) {
  const auto& definition = extension.definition.members();
  AppPlan plan{.type = type_of(definition), .environment = environment_of(definition)};
  plan.path = std::string(string_member(definition, "path").value_or(""));
  plan.command = string_member(definition, "command").value_or("");
  plan.health_path = string_member(definition, "health_path").value_or("");
  if (const auto* port = definition.if_contains("port"); port && port->is_number()) {
    // 8000.0 is a whole number too.
    boost::system::error_code error;
    const int number = port->to_number<int>(error);
    if (!error) plan.port = number;
  }
  return plan;
}

void require_complete(const AppPlan& plan) {
  const bool has_place = plan.path.is_absolute() && !has_nul(plan.path.native());
  const bool has_command = !plan.command.empty() && !has_nul(plan.command);
  if (!has_place || (plan.type != AppType::statics && !has_command)) throw ApiError(500, "invalid app definition");
}

}  // namespace agw
