#pragma once

#include "features/agents/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// Remember: a line in the notes of the calling agent, which its prompt carries.
Tool remember_tool(Identities& identities);

}  // namespace agw
