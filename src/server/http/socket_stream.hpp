#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/async/task.hpp"
#include "io/files/descriptor.hpp"
#include "server/http/read_poller.hpp"
#include "server/http/tls.hpp"

namespace agw {

/// Sets a flag during its lifetime.
class ScopedFlag {
public:
  explicit ScopedFlag(bool& flag) : flag_(flag) { flag_ = true; }
  ~ScopedFlag() { flag_ = false; }
  ScopedFlag(const ScopedFlag&) = delete;
  ScopedFlag& operator=(const ScopedFlag&) = delete;

private:
  bool& flag_;
};

/// A client's TCP connection, encrypted or not. Attempts each read and write first; the loop only waits for a socket
/// that would block. Has no timers: its owner calls `interrupt`.
/// Example: src/server/http/socket_stream_test.cpp: SocketStream.ReportsThatAMoveWaitsForTheClient
class SocketStream {
public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `socket` must be connected and non-blocking. With `tls`, all data after `handshake` is encrypted.
  SocketStream(Loop& loop, Descriptor socket, std::unique_ptr<TlsSession> tls = nullptr);
  ~SocketStream();
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  bool encrypted() const { return tls_ != nullptr; }

  /// Makes `poller` call `handler` when bytes arrive, until this object first waits itself: from then on the loop
  /// watches the socket.
  void poll_with(ReadPoller& poller, ReadHandler& handler);
  bool polled() const { return poller_ != nullptr; }

  /// `more`: the buffer was filled, so further bytes may follow. `end`: end of the stream, or an error.
  enum class Received { would_block, bytes, more, end };
  /// Appends received bytes to `in` without waiting. Not for encrypted streams.
  Received try_receive(std::string& in);

  /// Performs the TLS handshake. Returns false if it fails, or after `interrupt`.
  Task<bool> handshake();

  /// Waits for at least one byte and appends all received bytes to `in`. Returns false at the end of the stream, on an
  /// error, or after `interrupt`.
  Task<bool> receive(std::string& in);

  /// Acknowledges all received bytes at once (tcp(7), TCP_QUICKACK). The kernel would wait up to 40 ms for bytes to
  /// send with it, and a client that uses Nagle's algorithm (RFC 896) would send the rest of its request only then.
  void acknowledge();

  /// Sends as much as possible without waiting and removes it from `bytes`. Returns false if the connection broke.
  bool try_send(std::string_view& bytes);
  /// Whether encrypted bytes still have to be sent although their plain text was removed from `bytes`.
  bool has_unsent_ciphertext() const { return tls_ && !tls_->outgoing().empty(); }
  /// Sends all of `bytes`, which must outlive the call. Returns false if the connection broke, or after `interrupt`.
  Task<bool> send(std::string_view bytes);

  /// Writes as much of `pieces` as possible without waiting. Returns the number of bytes, or nullopt if the connection
  /// broke.
  std::optional<std::size_t> try_send(std::span<const asio::const_buffer> pieces);
  /// Moves `count` bytes from another socket inside the kernel (io/files/splice.hpp). Returns how many were moved: 0 on
  /// encrypted streams.
  Task<std::uint64_t> move_from(asio::ip::tcp::socket& source, std::uint64_t count);
  /// Waits until the socket accepts more bytes. Returns false on an error, or after `interrupt`.
  Task<bool> wait_writable();

  /// Ends the current waits.
  void interrupt();
  /// Shuts down the sending side, then reads and discards until the peer closes too: closing immediately would reset
  /// the connection and could destroy the last response in transit. `interrupt` ends the wait.
  Task<> lingering_close();

  /// Whether a send waits until the client accepts earlier bytes.
  bool is_blocked_on_send() const { return is_blocked_on_send_; }
  /// When bytes were last received or sent.
  TimePoint last_activity() const { return last_activity_; }

  /// The time to a few milliseconds: enough for timeouts, and much cheaper than the exact time.
  static TimePoint now();

private:
  Task<bool> receive_decrypted(std::string& in);
  Task<bool> receive_encrypted(boost::system::error_code& error);
  bool encrypt_and_send(std::string_view& bytes);
  bool flush();

  asio::ip::tcp::socket& asio_socket();
  void stop_polling();
  std::size_t write_some(std::string_view bytes, boost::system::error_code& error);

  const int fd_;
  Descriptor unregistered_;  ///< until `socket_` owns it
  asio::ip::tcp::socket socket_;
  ReadPoller* poller_ = nullptr;
  ReadHandler* read_handler_ = nullptr;
  std::unique_ptr<TlsSession> tls_;
  /// Receives the bytes that end a wait. Small, because every idle connection has one.
  std::array<char, 256> small_buffer_;
  TimePoint last_activity_ = now();
  bool is_blocked_on_send_ = false;
};

}  // namespace agw
