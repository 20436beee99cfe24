#pragma once

#include <vector>

#include "features/extensions/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// ListExtensions, CreateExtension, UpdateExtension. What an agent makes is its own and, below sovereign, disabled;
/// what it may not change by itself becomes a proposal, and so does at any stage what could widen its own limits or
/// reach a secret.
std::vector<Tool> extension_tools(Extensions& extensions);

}  // namespace agw
