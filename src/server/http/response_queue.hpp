#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/http/response.hpp"
#include "server/http/socket_stream.hpp"

namespace agw {

/// The unsent responses of one connection. Responses to pipelined requests are collected and sent with one system call.
/// A long body is not copied, since that would block the loop. `stream` must outlive it.
class ResponseQueue {
public:
  explicit ResponseQueue(SocketStream& stream) : stream_(stream) {}

  void append(Response response, const ResponseOptions& options);
  /// Whether the queue should be sent before more requests are handled.
  bool full() const;

  /// Sends as much as possible without waiting. Returns whether everything was sent.
  bool try_flush();
  /// Sends everything. Returns false if the connection broke, or after SocketStream::interrupt.
  Task<bool> flush();

private:
  /// The next bytes, contiguous.
  std::string_view unsent() const;
  void clear();

  SocketStream& stream_;
  std::string bytes_;
  std::string long_body_;  ///< follows `bytes_`
  std::size_t sent_ = 0;   ///< bytes of both that were sent
};

}  // namespace agw
