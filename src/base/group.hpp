#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/task.hpp"

namespace agw {

/// The owner of coroutines: whoever spawns one has a Group, cancels it and joins it before it dies. Besides `cut`, the
/// only caller of Asio's co_spawn. Everything happens on the loop's thread.
class Group {
public:
  explicit Group(Loop& loop);
  /// Aborts the process when children still live: a frame that outlives what it refers to would be worse.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Starts `task` at the loop's next turn. An exception that leaves it is kept for `join`; `on_failure`, if given, is
  /// told.
  void spawn(Task<> task);

  /// What to do with an exception that leaves a child. Without it the first one is kept and thrown by `join`.
  void on_failure(std::function<void(std::exception_ptr)> handler) { on_failure_ = std::move(handler); }

  /// Asks every child to end: what it waits for completes with operation_aborted.
  void cancel();

  /// Waits until no child lives, then throws the first exception that left one, if any.
  Task<> join();

  std::size_t size() const { return children_.size(); }
  bool closing() const { return closing_; }

private:
  struct Child {
    asio::cancellation_signal signal;
  };
  using Children = std::list<std::unique_ptr<Child>>;

  void ended(Children::iterator child, std::exception_ptr failure);

  Loop& loop_;
  Children children_;
  asio::steady_timer empty_;
  std::exception_ptr first_failure_;
  std::function<void(std::exception_ptr)> on_failure_;
  bool closing_ = false;
};

}  // namespace agw
