#pragma once

#include <fcntl.h>

#include "base/async/assert.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

/// Keeps the unwritten part of a large new file small, so that no commit of another file waits for a gigabyte. Does not
/// sync: that would commit the file system's journal and delay other writers too. The caller syncs at the end, which
/// also reports errors.
class PacedWriteback {
public:
  explicit PacedWriteback(const Descriptor& file) : file_(file) {}

  /// Starts to write everything before `end`, the current size, to the disk, and waits for what the call before has
  /// started, so that the disk always has work. Blocks.
  void advance(off64_t end) {
    AGW_ASSERT(end >= started_);
    AGW_DEBUG_ASSERT(may_block());
    constexpr unsigned complete = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    ::sync_file_range(file_.get(), started_, end - started_, SYNC_FILE_RANGE_WRITE);
    // No length would mean all of the file.
    if (started_ > 0) ::sync_file_range(file_.get(), 0, started_, complete);
    started_ = end;
  }

private:
  const Descriptor& file_;
  off64_t started_ = 0;
};

}  // namespace agw
