#pragma once

#include <vector>

#include "features/knowledge/types.hpp"
#include "io/files/directory.hpp"

namespace agw {

// `knowledge/log.md`: what happened to the knowledge, for people to read and to add to. An entry is a heading
// `## [2026-01-02T03:04:05.678Z] compile | 3 pages` and what follows it up to the next one; oldest first. All of it
// blocks: not for the loop.

/// The entries, newest first. Of a very long file only the end is read. Headings of another form are text.
std::vector<KnowledgeEvent> read_journal(const Directory& data_directory);

/// Adds an entry, and forgets the oldest ones of a file that has grown long. Throws std::system_error.
void add_to_journal(const Directory& data_directory, const KnowledgeEvent& event);

}  // namespace agw
