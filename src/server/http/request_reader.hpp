#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "io/http/request_parser.hpp"
#include "server/http/socket_stream.hpp"

namespace agw {

/// Reads the successive requests of one connection: receives bytes, parses heads and bodies, and sends `100 Continue`
/// to clients that wait for it. `stream` must outlive it.
/// Example: src/server/http/request_reader_test.cpp: RequestReader.ParsesPipelinedRequestsFromOneReceive
class RequestReader {
public:
  explicit RequestReader(SocketStream& stream) : stream_(stream) {}

  /// The poller reported bytes; if `peer_closed`, the end of the stream follows them.
  void on_readable(bool peer_closed);
  /// Whether bytes or the end of the stream were reported but not yet received.
  bool readable() const { return input_ != Input::drained; }

  enum class Received { bytes, nothing, closed };
  /// Receives without waiting. Only for a polled stream.
  Received try_receive();
  /// Waits for bytes. Returns false at the end of the stream, on an error, or after SocketStream::interrupt.
  Task<bool> receive();

  enum class Parsed { incomplete, complete, refused };
  /// Parses the buffer up to the end of a request's head. An invalid request ends the connection, see `refusal`.
  Parsed parse_head();
  bool head_complete() const { return parser_.head_done(); }
  /// Forgets the current request; the buffer may contain the next one.
  void next_request();

  RequestParser& parser() { return parser_; }
  Head& head() { return parser_.head(); }
  const Head& head() const { return parser_.head(); }
  const std::optional<Refusal>& refusal() const { return parser_.refusal(); }

  /// Received but unparsed bytes, for the code that takes over the connection.
  std::string& buffer() { return buffer_; }
  /// Frees the buffer if it is large and empty.
  void shrink_buffer();

  enum class Body { complete, incomplete, too_large, refused, closed };
  /// Accepts a body of up to `limit` bytes and parses the part in the buffer.
  Body begin_body(std::size_t limit);
  /// Reads the rest of a body that `begin_body` found incomplete.
  Task<Body> read_body();
  /// Reads and drops the body. Returns false if it is malformed or ends early.
  Task<bool> discard_body();

private:
  /// Events from the poller that were not handled yet. `closing` holds until the end of the stream has been read.
  enum class Input { drained, readable, closing };

  Body parse_body();
  Task<Body> receive_body();

  SocketStream& stream_;
  RequestParser parser_;
  std::string buffer_;
  Input input_ = Input::drained;
};

/// Whether the client waits for `100 Continue` before it sends the body (RFC 9110, 10.1.1).
bool expects_continue(const Head& head);

}  // namespace agw
