#pragma once

#include <filesystem>

#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// Imports the sessions of Codex, one thread each, from `sessions/` and `archived_sessions/` in its directory.
void import_codex_sessions(Importer& importer, const std::filesystem::path& home);

}  // namespace agw::cli
