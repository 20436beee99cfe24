#pragma once

#include "features/knowledge/files.hpp"
#include "features/knowledge/types.hpp"
#include "storage/connection.hpp"

namespace agw {

/// What needs a person: the pages and links that the index knows, held against the sources that there are. `sources` is
/// by path.
KnowledgeHealth health_of(Connection& connection, const std::vector<FoundKnowledgeFile>& sources);

/// `journal` is how many entries the log has.
KnowledgeStats stats_of(Connection& connection, const std::vector<FoundKnowledgeFile>& sources, std::size_t journal);

}  // namespace agw
