#pragma once

#include <vector>

#include "features/knowledge/types.hpp"
#include "io/files/directory.hpp"

namespace agw {

// `knowledge/log.md`: the history of the knowledge, which people read and may extend. An entry is a heading
// `## [2026-01-02T03:04:05.678Z] compile | 3 pages` and the text up to the next one; oldest first. All functions block.

/// The entries, newest first. Only the end of a very long file is read. Headings of other forms belong to the text of
/// an entry.
std::vector<KnowledgeEvent> read_journal(const Directory& data_directory);

/// Appends an entry, and drops the oldest ones if the file has grown long. Throws std::system_error.
void add_to_journal(const Directory& data_directory, const KnowledgeEvent& event);

}  // namespace agw
