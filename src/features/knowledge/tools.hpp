#pragma once

#include <functional>
#include <vector>

#include "features/knowledge/service.hpp"
#include "features/threads/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// What Ingest needs of others.
struct IngestLinks {
  BlockingPool& blocking;
  /// Reads a web page as WebFetch does, judged as a call of the one that is given.
  std::function<Task<ToolOutcome>(const ToolCall& call)> fetch;
};

/// SearchKnowledge and Ingest. The references, those of the links too, outlive them.
std::vector<Tool> knowledge_tools(Knowledge& knowledge, Threads& threads, IngestLinks links);

}  // namespace agw
