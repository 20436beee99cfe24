#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace agw {

/// Called with the number of bytes copied so far and in total.
using SnapshotProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Copies a database, which a gateway may be writing to, into the new file `to` (mode 0600), as it was at one moment.
/// Does not block writers: the copy reads an old snapshot of the pages and is written to disk in small pieces, so that
/// no commit waits for a gigabyte of writes. Throws DatabaseError, std::system_error. Blocks.
void snapshot_database(const std::filesystem::path& from, const std::filesystem::path& to,
                       const SnapshotProgress& progress);

}  // namespace agw
