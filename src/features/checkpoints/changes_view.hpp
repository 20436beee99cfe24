#pragma once

#include <vector>

#include "features/checkpoints/blob_store.hpp"
#include "features/checkpoints/store.hpp"
#include "features/checkpoints/types.hpp"

namespace agw {

/// The changes of a run as clients see them, by path. Diffs exclude changes that others made between two changes of the
/// run. Blocks.
std::vector<FileChange> shown_changes(const std::vector<StoredChange>& changes, BlobStore& blobs);

}  // namespace agw
