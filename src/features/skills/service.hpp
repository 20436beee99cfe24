#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/task.hpp"
#include "features/extensions/types.hpp"
#include "features/skills/types.hpp"
#include "io/blocking.hpp"

namespace agw {

/// The skills that lie in folders; they are looked at anew each time, so that an edit counts from the next message on.
///
/// Of two with one name the nearer counts: the project's, then the agent's own, then the data directory's, then those
/// of `~/.agents/skills`.
class Skills {
public:
  Skills(BlockingPool& blocking, std::filesystem::path home, std::filesystem::path data_directory);

  /// Those that the agent is told of, by name: all, or those that its definition names. `project` is the thread's where
  /// a person trusts it: a checkout may come from anybody.
  Task<std::vector<Skill>> of(ExtensionPointer agent, std::optional<std::filesystem::path> project);

  /// The body of a skill's instructions with the list of its other files, or with `file` that file's text. Throws
  /// NotFound `there is no skill <name>` or `<file>: <why>`.
  Task<std::string> read(Skill skill, std::optional<std::string> file);

private:
  /// Folders of skills, each as what it lies beneath and the way from there.
  using Folders = std::vector<std::pair<std::filesystem::path, std::string>>;
  Folders folders(const std::string& agent, const std::optional<std::filesystem::path>& project) const;

  BlockingPool& blocking_;
  std::filesystem::path home_;
  std::filesystem::path data_directory_;
};

}  // namespace agw
