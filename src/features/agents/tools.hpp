#pragma once

#include "features/agents/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The tool Remember: adds a line to the notes of the calling agent, which are part of its prompt.
Tool remember_tool(Identities& identities);

}  // namespace agw
