#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace agw {

/// The tool that loads a skill.
inline constexpr std::string_view read_skill_tool_name = "ReadSkill";

/// A folder of instructions for one kind of work (https://agentskills.io): its SKILL.md begins with a YAML head.
struct Skill {
  std::string name;
  std::string description;     ///< what it does and when to use it; 1 to 1,024 characters, longer ones as they are
  std::filesystem::path root;  ///< absolute; no file of the skill is outside of it
  std::string folder;          ///< its own, relative to the root
  std::string file_name;       ///< `SKILL.md` or `skill.md`

  std::filesystem::path directory() const { return root / folder; }
};

}  // namespace agw
