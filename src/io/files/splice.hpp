#pragma once

#include <cstdint>
#include <functional>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/task.hpp"

namespace agw {

/// Waits until a socket is writable; false when the wait was cancelled.
using WaitUntilWritable = std::function<Task<bool>()>;

/// Moves `count` bytes from one socket to another within the kernel, without copying them into this process. Returns
/// how many were sent: fewer if a side closed or failed, or a wait was cancelled. Both sockets must be non-blocking;
/// `writable` waits for `to`.
Task<std::uint64_t> splice_bytes(asio::ip::tcp::socket& from, asio::ip::tcp::socket& to, std::uint64_t count,
                                 WaitUntilWritable writable);

}  // namespace agw
