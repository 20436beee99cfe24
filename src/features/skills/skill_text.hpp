#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// What a SKILL.md says.
struct SkillText {
  std::string name;         ///< empty where it has none
  std::string description;  ///< not blank
  bool for_people = false;  ///< `disable-model-invocation`: models are not told of it
  std::string body;         ///< what stands behind the head, trimmed
};

/// Reads it, and is lenient: names that break the rules, unknown members, a `: ` in a value without quotes. What cannot
/// be read gives nothing, and `why`.
std::optional<SkillText> read_skill_text(std::string_view text, std::string& why);

}  // namespace agw
