#include "io/blocking_pool.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace agw {

struct BlockingPool::Threads {
  explicit Threads(std::size_t count) : pool(count) {}
  ~Threads() { pool.join(); }
  asio::thread_pool pool;
};

BlockingPool::BlockingPool(Loop& loop, std::size_t threads) : loop_(loop), limit_(threads) {}

BlockingPool::~BlockingPool() = default;

Task<> BlockingPool::wait_for(std::function<void()> work) {
  if (!threads_) threads_ = std::make_unique<Threads>(limit_);
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr)>(
      [this](auto handler, std::function<void()> wanted) {
        // Shared, because the threads' queue takes only what can be moved without a throw on both sides.
        auto resume = std::make_shared<decltype(handler)>(std::move(handler));
        asio::post(threads_->pool, [&loop = loop_, guard = asio::make_work_guard(loop_), resume = std::move(resume),
                                    wanted = std::move(wanted)]() mutable {
          std::exception_ptr failure;
          try {
            wanted();
          } catch (...) {
            failure = std::current_exception();
          }
          // What the work holds is let go here, not on the loop.
          wanted = nullptr;
          asio::post(loop, [resume = std::move(resume), failure] { std::move (*resume)(failure); });
        });
      },
      asio::use_awaitable, std::move(work));
}

}  // namespace agw
