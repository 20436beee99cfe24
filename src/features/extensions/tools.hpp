#pragma once

#include <vector>

#include "features/extensions/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// ListExtensions, CreateExtension, UpdateExtension. Extensions that an agent creates belong to it and, below
/// sovereign, start disabled. Changes that it may not make itself become proposals; so do, at any stage, changes that
/// could widen its own limits or reach a secret.
std::vector<Tool> extension_tools(Extensions& extensions);

}  // namespace agw
