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

#include "base/task.hpp"
#include "io/worker_thread.hpp"

namespace agw {

/// A few threads for what would block the loop: walks through directories, hashes, large files.
///
///     auto entries = co_await blocking.run([path] { return entries_of(path); });
///
/// Work is taken in order, so what may take long bounds itself. The threads start when they are first needed.
class BlockingPool {
public:
  /// `threads` run at most at the same time.
  explicit BlockingPool(Loop& loop, std::size_t threads = 2);
  /// Waits for the work under way and for what is queued behind it.
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  /// Runs `closure` on one of the threads and resumes on the loop with what it returns; throws what it throws. The
  /// closure holds values: it cannot be cancelled, and it may outlive a caller that is.
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

  /// Destroys `value` on one of the threads: for one so large that it takes long.
  template <class Value>
  void destroy(std::unique_ptr<Value> value) {
    asio::post(queue_, [value = std::move(value)] {});
  }

private:
  Task<> wait_for(std::function<void()> work);
  void start_threads();

  Loop& loop_;
  const std::size_t limit_;
  asio::io_context queue_;
  asio::executor_work_guard<asio::io_context::executor_type> open_;
  std::list<WorkerThread> threads_;
};

}  // namespace agw
