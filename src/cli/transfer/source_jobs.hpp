#pragma once

#include <filesystem>
#include <string>

#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// Creates disabled jobs of `agent` from another program's file `{jobs: [{id, name, schedule, …}]}`. The prompt is
/// `prompt`, or a member of `payload`; `schedule` is `{kind, …}`: `cron` with `expr`, `every` with `everyMs`,
/// `interval` with `minutes`, or a single time. What no cron expression says is left out.
void import_jobs(Importer& importer, const std::filesystem::path& file, const std::string& agent);

}  // namespace agw::cli
