#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/async/assert.hpp"
#include "io/files/entry_state.hpp"

namespace agw {

/// Signals the thread that writes the new content that it may replace the file.
/// Example: src/tools/files/recorded_write_test.cpp: RecordedWrite.TheFileIsReplacedBeforeTheLoopHearsOfTheRecord
class ReplacePermit {
public:
  FileStamp present{};  ///< the state that must still be current; set before `give`

  void give() {
    const std::scoped_lock lock(mutex_);
    is_given_ = true;
    given_.notify_one();
  }
  bool is_given_within(std::chrono::microseconds time) {
    AGW_DEBUG_ASSERT(may_block());
    std::unique_lock lock(mutex_);
    return given_.wait_for(lock, time, [this] { return is_given_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable given_;
  bool is_given_ = false;
};

}  // namespace agw
