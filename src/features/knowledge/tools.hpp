#pragma once

#include <vector>

#include "features/knowledge/service.hpp"
#include "features/threads/service.hpp"
#include "tools/tool_set.hpp"

namespace agw {

/// The tools SearchKnowledge and Ingest; the latter fetches web pages with the WebFetch of `tools`. The references must
/// outlive the tools.
std::vector<Tool> knowledge_tools(Knowledge& knowledge, Threads& threads, BlockingPool& blocking, const ToolSet& tools);

}  // namespace agw
