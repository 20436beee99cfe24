#pragma once

#include <vector>

#include "features/knowledge/service.hpp"
#include "features/threads/service.hpp"
#include "tools/tool_set.hpp"

namespace agw {

/// SearchKnowledge and Ingest, which reads web pages with the WebFetch of `tools`. The references outlive them.
std::vector<Tool> knowledge_tools(Knowledge& knowledge, Threads& threads, BlockingPool& blocking, const ToolSet& tools);

}  // namespace agw
