#pragma once

#include <cstdint>
#include <functional>

#include <boost/asio/ip/tcp.hpp>

#include "base/task.hpp"

namespace agw {

/// Waits until a socket takes more; false when nobody waits for that any longer.
using WaitUntilWritable = std::function<Task<bool>()>;

/// Moves `count` bytes from one socket to another within the kernel: they are never copied into this process. Answers
/// how many were moved: fewer where a side ended or broke, or a wait was cancelled; what is counted has been sent. Both
/// sockets are non-blocking; `writable` waits for `to`.
Task<std::uint64_t> splice_bytes(asio::ip::tcp::socket& from, asio::ip::tcp::socket& to, std::uint64_t count,
                                 WaitUntilWritable writable);

}  // namespace agw
