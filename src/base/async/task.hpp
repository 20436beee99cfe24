#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

namespace agw {

namespace asio = boost::asio;

/// A coroutine on the loop. It starts when it is awaited or when a TaskGroup spawns it.
template <class T = void>
using Task = asio::awaitable<T>;

/// The event loop, whose thread owns all state. Code on it must not block.
using Loop = asio::io_context;

}  // namespace agw
