#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "base/async/assert.hpp"
#include "base/async/async_event.hpp"
#include "base/async/task.hpp"
#include "io/process/worker_thread.hpp"

namespace agw {

/// Work that a BlockingPool does concurrently with its caller. The result is dropped if it is not awaited.
template <class Result>
class StartedWork {
public:
  /// Waits for the work; returns its result or throws its exception. Call it on the loop, at most once.
  Task<Result> result() {
    co_await state_->is_done.wait();
    if (state_->failure) std::rethrow_exception(state_->failure);
    co_return std::move(*state_->result);
  }

private:
  friend class BlockingPool;
  struct State {
    explicit State(Loop& loop) : is_done(loop) {}
    AsyncEvent is_done;
    std::optional<Result> result;
    std::exception_ptr failure;
  };
  explicit StartedWork(Loop& loop) : state_(std::make_shared<State>(loop)) {}

  std::shared_ptr<State> state_;
};

/// A few threads for work that would block the loop: directory walks, hashes, large files.
///
///     auto entries = co_await blocking.run([path] { return entries_of(path); });
///
/// Work runs in order, so long work must be bounded. The threads start on demand.
/// Example: src/io/process/blocking_test.cpp: BlockingPoolTest.WorkRunsOnAnotherThreadAndItsResultComesBackToTheLoop
class BlockingPool {
public:
  /// Uses at most `threads` threads.
  explicit BlockingPool(Loop& loop, std::size_t threads = 2);
  /// Waits for running and queued work.
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  /// Runs `closure` on one of the threads and resumes on the loop with its result or exception. The closure may use
  /// what the awaiting coroutine owns: it cannot be cancelled, and a cancelled caller resumes only when it has ended.
  template <class Closure>
  auto run(Closure closure) -> Task<std::invoke_result_t<Closure&>> {
    return run_if(true, std::move(closure));
  }

  /// Runs `closure` on one of the threads if it `is_long`, otherwise at once.
  template <class Closure>
  auto run_if(bool is_long, Closure closure) -> Task<std::invoke_result_t<Closure&>> {
    using Result = std::invoke_result_t<Closure&>;
    if constexpr (std::is_void_v<Result>)
      return wait_for(is_long, std::move(closure));
    else
      return result_of<Result>(is_long, std::move(closure));
  }

  /// Starts `closure` on one of the threads. It must own its data: its caller may end before it.
  template <class Closure>
  auto start(Closure closure) -> StartedWork<std::invoke_result_t<Closure&>> {
    StartedWork<std::invoke_result_t<Closure&>> started(loop_);
    post([state = started.state_, closure = std::move(closure)]() mutable { state->result.emplace(closure()); },
         [state = started.state_](std::exception_ptr failure) {
           state->failure = std::move(failure);
           state->is_done.notify();
         });
    return started;
  }

  /// Destroys a large `value` on one of the threads.
  template <class Value>
  void destroy(std::unique_ptr<Value> value) {
    asio::post(queue_, [value = std::move(value)] {});
  }

private:
  /// A coroutine for each type of result, not for each closure, which would enlarge the program.
  template <class Result>
  Task<Result> result_of(bool is_long, std::function<Result()> work) {
    std::optional<Result> result;
    // What `work` owns may be large, so it is destroyed on the thread too.
    co_await wait_for(is_long, [&] { result.emplace(std::exchange(work, nullptr)()); });
    co_return std::move(*result);
  }
  Task<> wait_for(bool is_long, std::function<void()> work);
  /// Calls `done` on the loop with the exception of `work`, if any.
  void post(std::function<void()> work, std::function<void(std::exception_ptr)> done);
  void start_threads();

  ThreadChecker checker_;
  Loop& loop_;
  const std::size_t limit_;
  asio::io_context queue_;
  asio::executor_work_guard<asio::io_context::executor_type> open_;
  std::list<WorkerThread> threads_;
};

}  // namespace agw
