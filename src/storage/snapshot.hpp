#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace agw {

/// Told how many of how many bytes are done.
using SnapshotProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Copies a database, which a gateway may be writing to, into the new file `to` (mode 0600): all of it as it stood at
/// one moment. Writers are not held up: the copy reads an old version of the pages meanwhile, and what it writes is put
/// on disk in small pieces, so that a commit never waits behind a gigabyte of it. Throws DatabaseError,
/// std::system_error. Blocks.
void snapshot_database(const std::filesystem::path& from, const std::filesystem::path& to,
                       const SnapshotProgress& progress);

}  // namespace agw
