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

#include "base/task.hpp"
#include "io/descriptor.hpp"
#include "server/read_watch.hpp"
#include "server/tls.hpp"

namespace agw {

/// A client's TCP connection, read and written without a timer or a buffer of its own: what is there is taken at once,
/// and only a connection that would block is waited for.
class Wire {
public:
  using Moment = std::chrono::steady_clock::time_point;

  /// A connected, non-blocking socket. With `tls` everything that follows is encrypted, once `secure` has succeeded.
  Wire(Loop& loop, Descriptor socket, std::unique_ptr<TlsSession> tls = nullptr);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  bool encrypted() const { return tls_ != nullptr; }

  /// Has `who` told when bytes arrive, until the first wait of the Wire's own: then the loop watches the socket itself.
  void watch(ReadWatch& watch, Readable& who);
  bool watched() const { return watch_ != nullptr; }
  /// `more`: bytes, and there may be further ones.
  enum class Arrived { nothing, bytes, more, end };
  /// Appends what has arrived to `in`, without waiting. Not where it must be decrypted.
  Arrived receive_at_once(std::string& in);

  /// Agrees with the client on keys. False where that fails, or after `interrupt`.
  Task<bool> secure();

  /// Appends what has arrived to `in`, at least one byte. False at the end of the stream, on an error, or after
  /// `interrupt`.
  Task<bool> receive(std::string& in);

  /// Sends what goes at once and takes it off `bytes`. False when the connection broke.
  bool send_at_once(std::string_view& bytes);
  /// Whether encrypted bytes still wait to go out behind what was taken off.
  bool holds_back() const { return tls_ && !tls_->outgoing().empty(); }
  /// Sends all of `bytes`, which must live until then. False when the connection broke, or after `interrupt`.
  Task<bool> send(std::string_view bytes);

  /// Writes what fits at once from several pieces; the number of bytes written, or nothing when the connection broke.
  std::optional<std::size_t> send_some(std::span<const asio::const_buffer> pieces);
  /// Moves bytes from another socket without taking them up: see io/splice.hpp. None where they must be encrypted.
  Task<std::uint64_t> move_from(asio::ip::tcp::socket& source, std::uint64_t count);
  /// Waits until something can be written again.
  Task<bool> writable();

  /// Ends the waits of now.
  void interrupt();
  /// Says that nothing more will be sent, reads what the peer still sends until it ends too, and throws it away:
  /// closing at once would reset the connection and could destroy the answer on its way. `interrupt` ends it.
  Task<> finish();

  /// Whether what is to go out waits for the client to take what went before.
  bool waits_to_send() const { return waits_to_send_; }
  /// When bytes last moved.
  Moment last_activity() const { return last_activity_; }

  /// The time to a few milliseconds, which is enough for time-outs and costs a fraction of the exact one.
  static Moment now();

private:
  Task<bool> receive_decrypted(std::string& in);
  Task<bool> receive_encrypted(boost::system::error_code& error);
  bool encrypt_and_send(std::string_view& bytes);
  bool flush();

  asio::ip::tcp::socket& on_loop();
  void stop_watching();
  std::size_t write_some(std::string_view bytes, boost::system::error_code& error);

  const int number_;
  Descriptor unopened_;  ///< until `socket_` owns it
  asio::ip::tcp::socket socket_;
  ReadWatch* watch_ = nullptr;
  Readable* told_ = nullptr;
  std::unique_ptr<TlsSession> tls_;
  /// For the bytes that end a wait: small, because every idle connection has one.
  std::array<char, 256> first_;
  Moment last_activity_ = now();
  bool waits_to_send_ = false;
};

}  // namespace agw
