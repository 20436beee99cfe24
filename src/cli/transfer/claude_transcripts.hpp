#pragma once

#include <filesystem>

#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// Imports the sessions of Claude Code in `projects/<directory>/<session>.jsonl`, each as one thread, however often it
/// was compacted. Transcripts of subagents are imported as archived threads. Checked with versions 2.0.76 and 2.1.330.
void import_claude_transcripts(Importer& importer, const std::filesystem::path& projects);

}  // namespace agw::cli
