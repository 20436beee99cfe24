#include "base/async/task_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include "base/async/assert.hpp"

namespace agw {

TaskGroup::TaskGroup(Loop& loop) : loop_(loop), empty_(loop) {}

/// Join it first: its coroutines use what dies with its owner.
TaskGroup::~TaskGroup() { AGW_ASSERT(children_.empty()); }

void TaskGroup::spawn(Task<> task) {
  AGW_ASSERT(thread_.is_current());

  auto child = children_.insert(children_.end(), std::make_unique<Child>());
  asio::co_spawn(loop_, std::move(task),
                 asio::bind_cancellation_slot((*child)->signal.slot(),
                                              [this, child](std::exception_ptr failure) { ended(child, failure); }));
}

void TaskGroup::cancel() {
  AGW_ASSERT(thread_.is_current());

  closing_ = true;
  // A child may end during `emit` and then removes itself from the list.
  for (auto child = children_.begin(); child != children_.end();) {
    auto& signal = (*child++)->signal;
    signal.emit(asio::cancellation_type::terminal);
  }
}

Task<> TaskGroup::join() {
  AGW_ASSERT(thread_.is_current());

  while (!children_.empty()) co_await empty_.wait();
  if (first_failure_) std::rethrow_exception(std::exchange(first_failure_, nullptr));
}

void TaskGroup::ended(Children::iterator child, std::exception_ptr failure) {
  AGW_ASSERT(thread_.is_current());
  AGW_ASSERT(!children_.empty());
  AGW_ASSERT(*child);
  children_.erase(child);
  if (failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const boost::system::system_error& error) {
      if (!(closing_ && error.code() == asio::error::operation_aborted)) {
        if (on_failure_)
          on_failure_(failure);
        else if (!first_failure_)
          first_failure_ = failure;
      }
    } catch (...) {
      if (on_failure_)
        on_failure_(failure);
      else if (!first_failure_)
        first_failure_ = failure;
    }
  }
  if (children_.empty()) empty_.pulse();
}

}  // namespace agw
