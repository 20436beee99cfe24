#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/task.hpp"
#include "features/extensions/types.hpp"
#include "features/skills/types.hpp"
#include "io/process/blocking.hpp"

namespace agw {

struct Route;
class Extensions;
class Projects;
class Stages;
struct Tool;

/// The skills in folders. They are read each time, so an edit applies from the next message on.
///
/// If several have the same name, the nearest one is used: the project's, then the agent's own, then the data
/// directory's, then that of `~/.agents/skills`.
class Skills {
public:
  Skills(BlockingPool& blocking, std::filesystem::path home, std::filesystem::path data_directory);

  /// Returns the skills that the agent can see, by name: all, or those in its definition. Pass the thread's `project`
  /// only if a person trusts it: a checkout may come from anyone.
  Task<std::vector<Skill>> of(ExtensionPointer agent, std::optional<std::filesystem::path> project);

  /// Returns all skills that the agent could see without a project, by name, regardless of its definition.
  Task<std::vector<Skill>> available(ExtensionPointer agent);

  /// Returns the body of a skill's instructions, with the list of its other files; if `file` is given, that file's
  /// text. Throws NotFound `there is no skill <name>` or `<file>: <why>`.
  Task<std::string> read(Skill skill, std::optional<std::string> file);

private:
  /// Folders of skills, each as a root and the path beneath it.
  using Folders = std::vector<std::pair<std::filesystem::path, std::string>>;
  Task<std::vector<Skill>> found_in(Folders folders);
  Folders folders(const std::string& agent, const std::optional<std::filesystem::path>& project) const;

  BlockingPool& blocking_;
  std::filesystem::path home_;
  std::filesystem::path data_directory_;
};

/// The tool ReadSkill: returns the instructions of a skill that the agent can see, and the files in its folder.
Tool read_skill_tool(Skills& skills, const Extensions& extensions, Projects& projects);

/// The endpoint that lists skills.
std::vector<Route> skill_routes(Skills& skills, const Stages& stages);

}  // namespace agw
