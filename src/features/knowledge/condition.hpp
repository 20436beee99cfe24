#pragma once

#include "features/knowledge/files.hpp"
#include "features/knowledge/types.hpp"
#include "storage/connection.hpp"

namespace agw {

/// The problems that a person must solve, found by comparing the indexed pages and links with the existing sources.
/// `sources` is sorted by path.
KnowledgeHealth health_of(Connection& connection, const std::vector<FoundKnowledgeFile>& sources);

/// `journal` must be the number of entries in the log.
KnowledgeStats stats_of(Connection& connection, const std::vector<FoundKnowledgeFile>& sources, std::size_t journal);

}  // namespace agw
