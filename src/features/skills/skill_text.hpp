#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// The contents of a SKILL.md.
struct SkillText {
  std::string name;         ///< empty if it has none
  std::string description;  ///< not blank
  bool for_people = false;  ///< `disable-model-invocation`: models do not see it
  std::string body;         ///< the text after the head, trimmed
};

/// Parses it leniently: accepts names that break the rules, unknown members, and `: ` in a value without quotes. If the
/// text is invalid, returns nullopt and sets `why`.
std::optional<SkillText> read_skill_text(std::string_view text, std::string& why);

}  // namespace agw
