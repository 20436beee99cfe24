#pragma once

#include "features/proposals/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// `Propose`: stages a change for a person to decide on.
Tool propose_tool();

}  // namespace agw
