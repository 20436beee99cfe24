#pragma once

#include "features/engine/permission.hpp"
#include "features/extensions/service.hpp"

namespace agw {

/// What an agent's `tools` and `capabilities` leave it. Capabilities add to each other: what one of them declares, the
/// agent may use. One that is not there or disabled declares that it has nothing, so that a deleted one opens nothing.
/// Paths start at the working directory of `roots`, or with `~` at home.
AgentLimits limits_of(const Extension& agent, const Extensions& extensions, const FileRoots& roots);

}  // namespace agw
