#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "api/answer.hpp"
#include "base/cut.hpp"
#include "base/task.hpp"

namespace agw {

class Request;

/// How an answer begins that goes out piece by piece.
struct AnswerHead {
  int status = 200;
  Fields fields;                        ///< without those that frame the body
  std::optional<std::uint64_t> length;  ///< of the body in bytes, where it is known
};

/// A request and its answer in the hands of a handler that passes both on piece by piece, as fast as the slower side
/// goes. One coroutine may read while another sends. On the loop; it lives as long as the handler runs.
class Exchange {
public:
  virtual ~Exchange() = default;

  /// As it was sent; any that HTTP allows.
  virtual std::string_view method() const = 0;
  /// Path and query as they were sent, still encoded.
  virtual std::string_view target() const = 0;
  /// What the request says of its body: nothing where that comes in chunks.
  virtual std::optional<std::uint64_t> body_length() const = 0;

  /// The next piece of the body, or what a client sends after `upgrade`; empty at the end, nothing once the client has
  /// gone.
  virtual Task<std::optional<std::string>> read() = 0;
  /// Returns when the client has gone. Only for a request that was read to its end.
  virtual Task<> gone() = 0;

  /// Begins the answer. This and the following answer false once the client has gone.
  virtual Task<bool> begin(AnswerHead head) = 0;
  /// A piece of the answer's body, or bytes after `upgrade`.
  virtual Task<bool> send(std::string_view piece) = 0;
  /// Moves that many bytes of the body from a socket to the client without taking them up, where the connection allows
  /// that. Answers how many were moved; the rest is to be sent.
  virtual Task<std::uint64_t> move_from(asio::ip::tcp::socket& source, std::uint64_t count) = 0;
  /// The body is complete. An answer that is not ended is cut off, so that the client can tell.
  virtual Task<bool> end() = 0;
  /// Answers 101: from now on both sides send what they like.
  virtual Task<bool> upgrade(Fields fields) = 0;

  /// Requested when the connection is to end now: what else the handler waits for is to end too.
  virtual Stop& cut_off() = 0;
};

/// A handler that throws before it began an answer is answered for, as any other. It begins one, or throws, or returns
/// because the client has gone.
using ExchangeHandler = std::function<Task<>(Request&, Exchange&)>;

}  // namespace agw
