#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "api/response.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"

namespace agw {

class Request;

/// The head of a response that is sent piece by piece.
struct ResponseHead {
  int status = 200;
  Fields fields;                        ///< without Content-Length and Transfer-Encoding
  std::optional<std::uint64_t> length;  ///< of the body in bytes, if known
};

/// A response that a handler sends piece by piece, as fast as the client reads. Used on the loop; valid while the
/// handler runs.
class ResponseStream {
public:
  virtual ~ResponseStream() = default;

  /// Begins the response. This and the following return false once the client has disconnected.
  virtual Task<bool> begin(ResponseHead head) = 0;
  /// Sends a piece of the response's body, or bytes after `upgrade`.
  virtual Task<bool> send(std::string_view piece) = 0;
  /// Completes the body. A response without it is cut off, so that the client notices.
  virtual Task<bool> end() = 0;
  /// Begins the response, sends its whole body and completes it.
  virtual Task<bool> send_whole(ResponseHead head, std::string_view body);
  /// The response reports a failure although its status is a success: it is not stored for repeated requests.
  virtual void mark_failed() {}

  /// Returns when the client disconnects. Only after the body was read to its end.
  virtual Task<> wait_for_disconnect() = 0;
  /// Requested when the connection has to end: the handler must then end its other waits too.
  virtual StopSource& stop_source() = 0;
};

/// A request and its response for a handler that forwards both piece by piece, as fast as the slower side allows. One
/// coroutine may read while another sends.
class ProxyStream : public ResponseStream {
public:
  /// As sent; any method that HTTP allows.
  virtual std::string_view method() const = 0;
  /// Path and query as sent, still encoded.
  virtual std::string_view target() const = 0;
  /// The declared length of the body in bytes; nullopt if it is chunked.
  virtual std::optional<std::uint64_t> body_length() const = 0;

  /// Reads the next piece of the body, or of what the client sends after `upgrade`. Returns an empty string at the end,
  /// and nullopt once the client has disconnected.
  virtual Task<std::optional<std::string>> read() = 0;
  /// Moves up to `count` bytes of the body from `source` to the client inside the kernel, if the connection allows it.
  /// Returns how many were moved; the caller sends the rest.
  virtual Task<std::uint64_t> move_from(asio::ip::tcp::socket& source, std::uint64_t count) = 0;
  /// Responds with 101. From then on both sides send raw bytes.
  virtual Task<bool> upgrade(Fields fields) = 0;
};

/// Begins a response, throws, or returns because the client has disconnected. If it throws before it began a response,
/// the server sends one, as for other handlers.
using ProxyHandler = std::function<Task<>(Request&, ProxyStream&)>;

}  // namespace agw
