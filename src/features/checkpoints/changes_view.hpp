#pragma once

#include <vector>

#include "features/checkpoints/blob_store.hpp"
#include "features/checkpoints/store.hpp"
#include "features/checkpoints/types.hpp"

namespace agw {

/// The changes of a run as clients see them, by path. What somebody else changed between two changes of the run is not
/// part of the diffs. Blocks.
std::vector<FileChange> shown_changes(const std::vector<StoredChange>& changes, BlobStore& blobs);

}  // namespace agw
