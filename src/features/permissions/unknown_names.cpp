#include "features/permissions/unknown_names.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr std::size_t max_warnings = 100;
constexpr std::size_t max_shown_name = 100;

/// The warnings about one definition.
struct Findings {
  const json::object& definition;
  std::vector<ExtensionWarning> warnings{};

  /// `problem` returns what is wrong with a name; empty: nothing.
  using ProblemOf = std::function<std::string(std::string_view name)>;

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

std::string missing(std::string_view what, std::string_view name) {
  return fmt::format("there is no {} {}", what, shortened(std::string(name), max_shown_name));
}

}  // namespace

Task<std::vector<ExtensionWarning>> UnknownNames::unknown_names(ExtensionPointer extension) const {
  Findings found{extension->definition.members()};
  const auto tool = [tools = tools_.all()](std::string_view name) {
    return tools.contains(name) ? std::string() : missing("tool", name) + " at the moment";
  };
  const auto model = [this](std::string_view name) {
    const auto resolved = models_.resolve(name);
    const auto* problem = std::get_if<NotConfigured>(&resolved);
    return problem ? problem->message : std::string();
  };
  const auto agent = [this](std::string_view name) {
    return extensions_.find_agent(name) ? std::string() : missing("agent", name);
  };
  const auto capability = [this](std::string_view name) {
    const bool is_there = extensions_.find(ExtensionType::capability, name) != nullptr || is_host_preset(name);
    return is_there ? std::string() : missing("capability", name) + ": it allows nothing";
  };
  switch (extension->type) {
    case ExtensionType::agent: {
      const auto skills = array_member(found.definition, "skills") ? co_await skills_.of(extension, std::nullopt)
                                                                   : std::vector<Skill>();
      found.check("model", model);
      found.check_each("fallback_models", model);
      found.check_each("tools", tool);
      found.check_each("capabilities", capability);
      found.check_each("skills", [&](std::string_view name) {
        const bool is_there = std::ranges::find(skills, name, &Skill::name) != skills.end();
        return is_there ? std::string() : missing("skill", name) + " outside of projects";
      });
      break;
    }
    case ExtensionType::capability:
      found.check_each("tools", tool);
      break;
    case ExtensionType::integration:
      found.check_each("fallback_models", [this](std::string_view name) { return models_.service_problem(name); });
      break;
    case ExtensionType::command:
      found.check("agent_id", agent);
      found.check("model", model);
      break;
    case ExtensionType::job:
      found.check("agent_id", agent);
      found.check("owner_agent_id", agent);
      found.check("model", model);
      break;
    default:
      break;
  }
  co_return std::move(found.warnings);
}

}  // namespace agw
