#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "base/async/assert.hpp"
#include "base/async/task.hpp"
#include "io/process/worker_thread.hpp"

namespace agw {

/// A few threads for work that would block the loop: directory walks, hashes, large files.
///
///     auto entries = co_await blocking.run([path] { return entries_of(path); });
///
/// Work runs in order, so long work must limit itself. The threads start when they are first needed.
/// Example: src/io/process/blocking_test.cpp: BlockingPoolTest.WorkRunsOnAnotherThreadAndItsResultComesBackToTheLoop
class BlockingPool {
public:
  /// At most `threads` threads.
  explicit BlockingPool(Loop& loop, std::size_t threads = 2);
  /// Waits for running and queued work.
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  /// Runs `closure` on one of the threads and resumes on the loop with its result or exception. The closure must own
  /// its data: it cannot be cancelled and may outlive a cancelled caller.
  template <class Closure>
  auto run(Closure closure) -> Task<std::invoke_result_t<Closure&>> {
    using Result = std::invoke_result_t<Closure&>;
    if constexpr (std::is_void_v<Result>) {
      co_await wait_for(std::move(closure));
    } else {
      auto result = std::make_shared<std::optional<Result>>();
      co_await wait_for([result, closure = std::move(closure)]() mutable { result->emplace(closure()); });
      co_return std::move(**result);
    }
  }

  /// Destroys `value` on one of the threads, because it is large.
  template <class Value>
  void destroy(std::unique_ptr<Value> value) {
    asio::post(queue_, [value = std::move(value)] {});
  }

private:
  Task<> wait_for(std::function<void()> work);
  void start_threads();

  [[no_unique_address]] ThreadChecker checker_;
  Loop& loop_;
  const std::size_t limit_;
  asio::io_context queue_;
  asio::executor_work_guard<asio::io_context::executor_type> open_;
  std::list<WorkerThread> threads_;
};

}  // namespace agw
