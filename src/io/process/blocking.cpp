#include "io/process/blocking.hpp"

#include <exception>
#include <system_error>

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"

namespace agw {

BlockingPool::BlockingPool(Loop& loop, std::size_t threads)
    : loop_(loop), limit_(threads), open_(queue_.get_executor()) {
  AGW_ASSERT(limit_ > 0);
}

BlockingPool::~BlockingPool() {
  // One of its own threads would wait for itself.
  AGW_ASSERT(checker_.is_current());

  open_.reset();
  threads_.clear();
}

void BlockingPool::start_threads() {
  try {
    while (threads_.size() < limit_) threads_.emplace_back("agw-blocking", [this] { queue_.run(); });
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;  // a single thread suffices
  }
  AGW_ASSERT(!threads_.empty());
  AGW_ASSERT(threads_.size() <= limit_);
}

void BlockingPool::post(std::function<void()> work, std::function<void(std::exception_ptr)> done) {
  AGW_ASSERT(checker_.is_current());
  AGW_ASSERT(work);
  AGW_ASSERT(done);

  start_threads();
  asio::post(queue_, [&loop = loop_, loop_is_needed = asio::make_work_guard(loop_), work = std::move(work),
                      done = std::move(done)]() mutable {
    std::exception_ptr failure;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    work = nullptr;
    asio::post(loop, [failure = std::move(failure), done = std::move(done)] { done(failure); });
  });
}

Task<> BlockingPool::wait_for(bool is_long, std::function<void()> work) {
  if (!is_long) co_return work();
  start_threads();  // started here, because an exception in an initiation would leave the loop
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr)>(
      [&](auto handler) {
        const auto resume = std::make_shared<decltype(handler)>(std::move(handler));
        post(std::move(work), [resume](std::exception_ptr failure) { std::move (*resume)(failure); });
      },
      asio::use_awaitable);
}

}  // namespace agw
