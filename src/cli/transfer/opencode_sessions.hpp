#pragma once

#include <filesystem>

#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// Takes over the sessions in opencode's folder of data: since 1.2 they are in `opencode.db`, before in files below
/// `storage`, which later versions leave where they are.
void import_opencode_sessions(Importer& importer, const std::filesystem::path& folder);

}  // namespace agw::cli
