#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/async_event.hpp"
#include "io/tls/tls_session.hpp"

namespace agw {

/// A TLS connection over a socket. One coroutine may read while another writes. On the loop. It buffers one record in
/// each direction, so each side waits for the other.
class TlsStream {
public:
  using Socket = asio::ip::tcp::socket;

  /// `socket` outlives this object. `received` has been read from it already.
  TlsStream(Loop& loop, Socket& socket, std::unique_ptr<TlsSession> session, std::string_view received = {});

  /// Returns false if it fails, or takes longer than `limit`.
  Task<bool> handshake(std::chrono::milliseconds limit);
  /// Replaces `bytes` by the next ones that arrive. Returns false at the end, see `TlsSession::ended_by_peer`.
  Task<bool> read(std::string& bytes);
  /// Returns once the bytes are with the kernel; false if the connection is broken.
  Task<bool> write(std::string_view bytes);
  /// Sends close_notify and ends the sending direction.
  Task<> end();
  /// Ends the sending direction without close_notify, which shows the peer that the data is incomplete.
  void abort();

  TlsSession& session() { return *session_; }

private:
  Task<> shake_hands(bool& done);
  Task<bool> receive();
  Task<bool> flush();

  Socket& socket_;
  std::unique_ptr<TlsSession> session_;
  std::string incoming_;  ///< encrypted; empty unless reading
  bool is_sending_ = false;
  bool is_broken_ = false;  ///< a write has failed
  AsyncEvent sent_;
};

}  // namespace agw
