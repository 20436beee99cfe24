#include "features/permissions/unknown_names.hpp"

#include <functional>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "features/permissions/service.hpp"

namespace agw {

namespace {

constexpr std::size_t max_warnings = 100;
constexpr std::size_t max_shown_name = 100;

std::string missing(std::string_view what, std::string_view name) {
  return fmt::format("there is no {} {}", what, shortened(std::string(name), max_shown_name));
}

}  // namespace

/// The warnings about one definition.
struct UnknownNames::Findings {
  const json::object& definition;
  std::vector<ExtensionWarning> warnings{};

  void check(std::string_view member, const ProblemOf& problem) {
    if (const auto name = string_member(definition, member)) add(fmt::format("definition.{}", member), problem(*name));
  }

  void check_each(std::string_view member, const ProblemOf& problem) {
    const auto* list = array_member(definition, member);
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      const auto& name = (*list)[i];
      if (name.is_string()) add(fmt::format("definition.{}[{}]", member, i), problem(name.get_string()));
    }
  }

private:
  void add(std::string path, std::string message) {
    if (!message.empty() && warnings.size() < max_warnings) warnings.push_back({std::move(path), std::move(message)});
  }
};

UnknownNames::ProblemOf UnknownNames::tool_problems() const {
  return [tools = tools_.all()](std::string_view name) {
    return tools.contains(name) ? std::string() : missing("tool", name) + " at the moment";
  };
}

UnknownNames::ProblemOf UnknownNames::model_problems() const {
  return [this](std::string_view name) {
    const auto resolved = models_.resolve(name);
    const auto* problem = std::get_if<NotConfigured>(&resolved);
    return problem ? problem->message : std::string();
  };
}

UnknownNames::ProblemOf UnknownNames::agent_problems() const {
  return
      [this](std::string_view name) { return extensions_.find_agent(name) ? std::string() : missing("agent", name); };
}

UnknownNames::ProblemOf UnknownNames::capability_problems() const {
  return [this](std::string_view name) {
    const bool is_there = extensions_.find(ExtensionType::capability, name) != nullptr || is_host_preset(name);
    return is_there ? std::string() : missing("capability", name) + ": it allows nothing";
  };
}

Task<> UnknownNames::check_agent(Findings& found, ExtensionPointer agent) const {
  const auto skills =
      array_member(found.definition, "skills") ? co_await skills_.of(agent, std::nullopt) : std::vector<Skill>();
  found.check("model", model_problems());
  found.check_each("fallback_models", model_problems());
  found.check_each("tools", tool_problems());
  found.check_each("capabilities", capability_problems());
  found.check_each("skills", [&](std::string_view name) {
    const bool is_there = contains(skills, name, &Skill::name);
    return is_there ? std::string() : missing("skill", name) + " outside of projects";
  });
}

void UnknownNames::check_other(Findings& found, ExtensionType type) const {
  switch (type) {
    case ExtensionType::capability:
      return found.check_each("tools", tool_problems());
    case ExtensionType::integration:
      return found.check_each("fallback_models",
                              [this](std::string_view name) { return models_.service_problem(name); });
    case ExtensionType::job:
      found.check("agent_id", agent_problems());
      found.check("owner_agent_id", agent_problems());
      return found.check("model", model_problems());
    case ExtensionType::command:
      found.check("agent_id", agent_problems());
      return found.check("model", model_problems());
    default:
      return;
  }
}

Task<std::vector<ExtensionWarning>> UnknownNames::unknown_names(ExtensionPointer extension) const {
  Findings found{extension->definition.members()};
  if (extension->type == ExtensionType::agent)
    co_await check_agent(found, extension);
  else
    check_other(found, extension->type);
  co_return std::move(found.warnings);
}

}  // namespace agw
