#include "base/group.hpp"

#include <cstdio>
#include <cstdlib>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace agw {

Group::Group(Loop& loop) : loop_(loop), empty_(loop, asio::steady_timer::time_point::max()) {}

Group::~Group() {
  if (children_.empty()) return;
  std::fprintf(stderr, "a Group died with %zu coroutines alive: join it first\n", children_.size());
  std::abort();
}

void Group::spawn(Task<> task) {
  auto child = children_.insert(children_.end(), std::make_unique<Child>());
  asio::co_spawn(loop_, std::move(task),
                 asio::bind_cancellation_slot((*child)->signal.slot(),
                                              [this, child](std::exception_ptr failure) { ended(child, failure); }));
}

void Group::cancel() {
  closing_ = true;
  // A child that ends while being cancelled takes itself out of the list.
  for (auto child = children_.begin(); child != children_.end();) {
    auto& signal = (*child++)->signal;
    signal.emit(asio::cancellation_type::terminal);
  }
}

Task<> Group::join() {
  while (!children_.empty()) {
    boost::system::error_code ignored;
    co_await empty_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (first_failure_) std::rethrow_exception(std::exchange(first_failure_, nullptr));
}

void Group::ended(Children::iterator child, std::exception_ptr failure) {
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
  if (children_.empty()) empty_.cancel();
}

}  // namespace agw
