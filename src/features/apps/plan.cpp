#include "features/apps/plan.hpp"

#include "api/error.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr int max_port = 65'535;

AppType type_of(const json::object& definition) {
  if (const auto named = string_member(definition, "type")) {
    if (const auto known = from_text<AppType>(*named)) return *known;
  }
  const bool has_only_files = string_member(definition, "path") && !string_member(definition, "command");
  return has_only_files ? AppType::statics : AppType::command;
}

/// Why a required text is invalid; empty if it is valid.
std::string problem_of(const std::string& text) {
  if (text.empty()) return "is required";
  return text.find('\0') != text.npos ? "must not hold a NUL character" : "";
}

std::string problem_of_path(const std::filesystem::path& path) {
  auto problem = problem_of(path.native());
  if (problem.empty() && !path.is_absolute()) problem = "must be an absolute path, not " + path.native();
  return problem;
}

/// Rejects characters that would make the health check an invalid request, so that the app would never become
/// `running`.
std::string problem_of_health_path(const std::string& path) {
  const bool can_be_asked = path.find_first_of(std::string_view(" \r\n\0", 4)) == path.npos;
  return can_be_asked ? "" : "must not hold a blank (write %20), a line break or a NUL character";
}

}  // namespace

AppPlan app_plan(const Extension& extension) {
  const auto& definition = extension.definition.members();
  AppPlan plan{.type = type_of(definition), .path = string_or_empty(definition, "path")};
  plan.command = string_member(definition, "command").value_or("");
  plan.health_path = string_member(definition, "health_path").value_or("");
  if (const auto* port = definition.if_contains("port"); port && port->is_number()) {
    // Accepts 8000.0, which is a whole number, too.
    boost::system::error_code error;
    const int number = port->to_number<int>(error);
    if (!error && number > 0 && number <= max_port) plan.port = number;
  }
  return plan;
}

std::map<std::string, std::string> app_environment(const Extension& extension) {
  std::map<std::string, std::string> environment;
  const auto* variables = extension.definition.members().if_contains("env");
  if (!variables || !variables->is_object()) return environment;
  for (const auto& member : variables->get_object()) {
    if (member.value().is_string()) environment[member.key()] = member.value().get_string();
  }
  return environment;
}

void require_complete(const AppPlan& plan) {
  json::array details;
  const auto note = [&](const std::string& member, const std::string& problem) {
    if (!problem.empty()) details.push_back({{"path", member}, {"message", member + " " + problem}});
  };
  note("definition.path", problem_of_path(plan.path));
  if (plan.type != AppType::statics) {
    note("definition.command", problem_of(plan.command));
    note("definition.health_path", problem_of_health_path(plan.health_path));
  }
  if (!details.empty()) throw ApiError(500, "invalid app definition", {{"details", std::move(details)}});
}

}  // namespace agw
