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
/// Of two with the same name the nearer one counts: the project's, then the agent's own, then the data directory's,
/// then that of `~/.agents/skills`.
class Skills {
public:
  Skills(BlockingPool& blocking, std::filesystem::path home, std::filesystem::path data_directory);

  /// The skills that the agent can see, by name: all, or those that its definition names. Pass the thread's `project`
  /// only if a person trusts it: a checkout may come from anybody.
  Task<std::vector<Skill>> of(ExtensionPointer agent, std::optional<std::filesystem::path> project);

  /// All that it could see without a project, by name, regardless of its definition.
  Task<std::vector<Skill>> available(ExtensionPointer agent);

  /// The body of a skill's instructions, with the list of its other files; if `file` is given, that file's text. Throws
  /// NotFound `there is no skill <name>` or `<file>: <why>`.
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

/// ReadSkill: the instructions of a skill that the agent can see, and the files next to them.
Tool read_skill_tool(Skills& skills, const Extensions& extensions, Projects& projects);

/// The endpoint that lists skills.
std::vector<Route> skill_routes(Skills& skills, const Stages& stages);

}  // namespace agw
