#pragma once

#include "features/extensions/service.hpp"
#include "features/projects/service.hpp"
#include "features/skills/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// ReadSkill: the instructions of a skill that the agent can see, and the files next to them.
Tool read_skill_tool(Skills& skills, const Extensions& extensions, Projects& projects);

}  // namespace agw
