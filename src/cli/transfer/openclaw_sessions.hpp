#pragma once

#include <filesystem>

#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// Imports the sessions of OpenClaw's agents, one thread each, from the folder `agents`: since 2026.9 they are in
/// `<agent>/agent/openclaw-agent.sqlite`, before that in `<agent>/sessions/<id>.jsonl`. A session in both is imported
/// once.
void import_openclaw_sessions(Importer& importer, const std::filesystem::path& agents);

}  // namespace agw::cli
