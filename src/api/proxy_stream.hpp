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

/// The head of a streamed response.
struct ResponseHead {
  int status = 200;
  Fields fields;                        ///< without Content-Length and Transfer-Encoding
  std::optional<std::uint64_t> length;  ///< of the body in bytes, if known
};

/// A response that a handler sends in pieces, as fast as the client reads. Used on the loop; valid while the handler
/// runs.
class ResponseStream {
public:
  virtual ~ResponseStream() = default;

  /// Begins the response. Like the functions below, returns false once the client has disconnected.
  virtual Task<bool> begin(ResponseHead head) = 0;
  /// Sends a piece of the body, or bytes after `upgrade`.
  virtual Task<bool> send(std::string_view piece) = 0;
  /// Completes the body. Without this call the connection is aborted, so that the client notices.
  virtual Task<bool> end() = 0;
  /// Begins the response, sends its body and completes it.
  virtual Task<bool> send_whole(ResponseHead head, std::string_view body);
  /// Marks a response with a success status as a failure: it is not stored for repeated requests.
  virtual void mark_failed() {}

  /// Returns when the client disconnects. Call it only after reading the whole body.
  virtual Task<> wait_for_disconnect() = 0;
  /// Requested when the connection must end; the handler must then end its other waits too.
  virtual StopSource& stop_source() = 0;
};

/// A request and its response, for a handler that forwards both in pieces, as fast as the slower side allows. One
/// coroutine may read while another sends.
class ProxyStream : public ResponseStream {
public:
  /// The method as sent, which may be any HTTP method.
  virtual std::string_view method() const = 0;
  /// Path and query as sent, still encoded.
  virtual std::string_view target() const = 0;
  /// The declared length of the body in bytes; nullopt if it is chunked.
  virtual std::optional<std::uint64_t> body_length() const = 0;

  /// Reads the next piece of the body, or of the client's bytes after `upgrade`. Returns an empty string at the end,
  /// and nullopt once the client has disconnected.
  virtual Task<std::optional<std::string>> read() = 0;
  /// Moves up to `count` bytes of the body from `source` to the client inside the kernel, if the connection supports
  /// it. Returns the number of bytes moved; the caller sends the rest.
  virtual Task<std::uint64_t> move_from(asio::ip::tcp::socket& source, std::uint64_t count) = 0;
  /// Responds with 101. Afterwards both sides send raw bytes.
  virtual Task<bool> upgrade(Fields fields) = 0;
};

/// Begins a response, throws, or returns because the client has disconnected. If it throws before beginning a response,
/// the server sends an error response, as for other handlers.
using ProxyHandler = std::function<Task<>(Request&, ProxyStream&)>;

}  // namespace agw
