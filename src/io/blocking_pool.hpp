#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

#include "base/task.hpp"

namespace agw {

/// A few threads for what would block the loop: files, hashing, compression. They start when they are first needed.
///
///     auto text = co_await pool.run([path] { return read_file(path); });
class BlockingPool {
public:
  explicit BlockingPool(Loop& loop, std::size_t threads = 2);
  /// Waits for what is under way.
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  /// Runs `closure` on a thread of the pool; the caller resumes on the loop with what it returns or throws. It cannot
  /// be cancelled: a caller that was cancelled meanwhile still gets the result. Capture by value.
  template <class Closure>
  auto run(Closure closure) -> Task<std::invoke_result_t<Closure>> {
    using Result = std::invoke_result_t<Closure>;
    if constexpr (std::is_void_v<Result>) {
      co_await wait_for(std::move(closure));
    } else {
      auto result = std::make_shared<std::optional<Result>>();
      co_await wait_for([result, closure = std::move(closure)]() mutable { result->emplace(closure()); });
      co_return std::move(**result);
    }
  }

private:
  Task<> wait_for(std::function<void()> work);

  struct Threads;
  Loop& loop_;
  std::size_t limit_;
  std::unique_ptr<Threads> threads_;
};

}  // namespace agw
