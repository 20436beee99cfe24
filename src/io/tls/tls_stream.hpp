#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/async_event.hpp"
#include "io/tls/tls_session.hpp"

namespace agw {

/// A TLS connection over a socket. One coroutine may read while another writes. Use it on the loop only. Buffers one
/// record in each direction, so a fast side waits for a slow one.
class TlsStream {
public:
  using Socket = asio::ip::tcp::socket;

  /// `socket` must outlive this object. `received` was already read from it.
  TlsStream(Loop& loop, Socket& socket, std::unique_ptr<TlsSession> session, std::string_view received = {});

  /// Returns false if the handshake fails or takes longer than `limit`.
  Task<bool> handshake(std::chrono::milliseconds limit);
  /// Replaces `bytes` by the next received ones. Returns false at the end, see `TlsSession::ended_by_peer`.
  Task<bool> read(std::string& bytes);
  /// Returns once the kernel has accepted the bytes; false if the connection is broken.
  Task<bool> write(std::string_view bytes);
  /// Sends close_notify and shuts down the sending direction.
  Task<> end();
  /// Shuts down the sending direction without close_notify, which shows the peer that the data is incomplete.
  void abort();

  TlsSession& session() { return *session_; }

private:
  Task<> shake_hands(bool& done);
  Task<bool> receive();
  Task<bool> flush();

  Socket& socket_;
  std::unique_ptr<TlsSession> session_;
  std::string incoming_;  ///< encrypted; empty except during a read
  bool is_sending_ = false;
  bool is_broken_ = false;  ///< a write has failed
  AsyncEvent sent_;
};

}  // namespace agw
