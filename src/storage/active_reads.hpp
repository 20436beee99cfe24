#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/async/assert.hpp"

namespace agw {

/// The reads of this process that are in progress. They take milliseconds, so the writer may wait for them; a reader
/// that is not among them is another program, such as a backup, and may take seconds. Thread-safe.
class ActiveReads {
public:
  /// A read, during its lifetime.
  class Read {
  public:
    explicit Read(ActiveReads& reads) : reads_(reads), number_(reads.begin()) {}
    ~Read() { reads_.end(number_); }
    Read(const Read&) = delete;
    Read& operator=(const Read&) = delete;

  private:
    ActiveReads& reads_;
    const std::uint64_t number_;
  };

  /// How many reads have begun, for `any_among`.
  std::uint64_t begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }

  /// Whether one of the first `count` reads is still in progress.
  bool any_among(std::uint64_t count) const {
    const std::lock_guard lock(mutex_);
    AGW_ASSERT(count <= begun_);
    return std::ranges::any_of(active_, [count](auto number) { return number < count; });
  }

private:
  std::uint64_t begin() {
    const std::lock_guard lock(mutex_);
    active_.push_back(begun_);
    return begun_++;
  }

  void end(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto erased = std::erase(active_, number);
    AGW_ASSERT(erased == 1);
  }

  mutable std::mutex mutex_;
  std::uint64_t begun_ = 0;
  std::vector<std::uint64_t> active_;
};

}  // namespace agw
