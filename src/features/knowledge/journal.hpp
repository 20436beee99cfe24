#pragma once

#include <vector>

#include "features/knowledge/types.hpp"
#include "io/files/directory.hpp"

namespace agw {

// `knowledge/log.md`: the history of the knowledge, which people read and may extend. An entry is a heading
// `## [2026-01-02T03:04:05.678Z] compile | 3 pages` and the text up to the next one; oldest first. All functions block:
// not for the loop.

/// The entries, newest first. Of a very long file, only the end is read. Other headings are text.
std::vector<KnowledgeEvent> read_journal(const Directory& data_directory);

/// Appends an entry, and drops the oldest ones if the file has grown long. Throws std::system_error.
void add_to_journal(const Directory& data_directory, const KnowledgeEvent& event);

}  // namespace agw
