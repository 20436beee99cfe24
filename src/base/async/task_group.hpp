#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>

#include <boost/asio/cancellation_signal.hpp>

#include "base/async/assert.hpp"
#include "base/async/async_event.hpp"
#include "base/async/task.hpp"

namespace agw {

/// Owns coroutines (structured concurrency): the owner cancels and joins the group before its own end. The only caller
/// of Asio's co_spawn except for `with_timeout`. Use it on the loop only.
/// Example: src/base/async/task_group_test.cpp: TaskGroup.JoinsSpawnedTasks
class TaskGroup {
public:
  explicit TaskGroup(Loop& loop);
  /// Aborts the process if children are still alive: they could use destroyed objects.
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  /// Starts `task` at the loop's next turn. Exceptions from the task go to the `on_failure` handler or are kept for
  /// `join`.
  void spawn(Task<> task);

  /// Sets the handler for exceptions from children. Without one, the group keeps the first exception and `join` throws
  /// it.
  void on_failure(std::function<void(std::exception_ptr)> handler) { on_failure_ = std::move(handler); }

  /// Cancels every child: its current wait completes with operation_aborted.
  void cancel();

  /// Waits until all children have ended, then throws the exception kept by the group, if any.
  Task<> join();

  std::size_t size() const { return children_.size(); }
  bool closing() const { return closing_; }

private:
  struct Child {
    asio::cancellation_signal signal;
  };
  using Children = std::list<std::unique_ptr<Child>>;

  void ended(Children::iterator child, std::exception_ptr failure);

  ThreadChecker thread_;
  Loop& loop_;
  Children children_;
  AsyncEvent empty_;
  std::exception_ptr first_failure_;
  std::function<void(std::exception_ptr)> on_failure_;
  bool closing_ = false;
};

}  // namespace agw
