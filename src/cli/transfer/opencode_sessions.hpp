#pragma once

#include <filesystem>

#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// Imports the sessions in opencode's data folder: since 1.2 they are in `opencode.db`, before that in files below
/// `storage`, which later versions do not remove.
void import_opencode_sessions(Importer& importer, const std::filesystem::path& folder);

}  // namespace agw::cli
