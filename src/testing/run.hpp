#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/async/task.hpp"

namespace agw::testing {

/// Runs a test's coroutine on its own loop and rethrows its exception. The test fails after `limit` instead of hanging.
inline void run(std::function<Task<>(Loop&)> body, std::chrono::seconds limit = std::chrono::minutes{2}) {
  Loop loop;
  std::exception_ptr failure;
  bool ended = false;
  asio::co_spawn(loop, body(loop), [&](std::exception_ptr error) {
    failure = error;
    ended = true;
    loop.stop();
  });
  loop.run_for(limit);
  if (failure) std::rethrow_exception(failure);
  if (!ended) throw std::runtime_error("the test did not end in time");
}

}  // namespace agw::testing
