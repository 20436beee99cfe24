#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/websocket/teardown.hpp>

#include "base/async/task.hpp"
#include "cli/client/find_gateway.hpp"

namespace agw::cli {

namespace asio = boost::asio;

/// A connection to the gateway, encrypted if the gateway uses TLS: a stream for Asio and Beast.
class GatewayStream {
public:
  using Socket = asio::ip::tcp::socket;
  using Encrypted = asio::ssl::stream<Socket>;
  using executor_type = Socket::executor_type;

  explicit GatewayStream(Socket socket) : plain_(std::move(socket)) {}
  explicit GatewayStream(Encrypted stream) : encrypted_(std::move(stream)) {}

  executor_type get_executor() { return socket().get_executor(); }
  Socket& socket() { return encrypted_ ? encrypted_->next_layer() : *plain_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, Signature>(
        [this](Handler handler, asio::mutable_buffer buffer) { read_some(buffer, std::move(handler)); }, token,
        first_of<asio::mutable_buffer>(buffers));
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, Signature>(
        [this](Handler handler, asio::const_buffer buffer) { write_some(buffer, std::move(handler)); }, token,
        first_of<asio::const_buffer>(buffers));
  }

private:
  // Type-erased, because Beast has a dozen kinds of handlers, each of which would be compiled for both kinds of
  // sockets.
  using Signature = void(boost::system::error_code, std::size_t);
  using Handler = asio::any_completion_handler<Signature>;
  void read_some(asio::mutable_buffer buffer, Handler handler);
  void write_some(asio::const_buffer buffer, Handler handler);

  /// Returns the first buffer; the next call handles the others.
  template <class Buffer, class Buffers>
  static Buffer first_of(const Buffers& buffers) {
    for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers); ++at) {
      if (const Buffer buffer(*at); buffer.size() > 0) return buffer;
    }
    return {};
  }

  std::optional<Socket> plain_;
  std::optional<Encrypted> encrypted_;
};

// Customization points for Beast: closing a connection, normally and after a timeout.

inline void beast_close_socket(GatewayStream& stream) {
  boost::system::error_code ignored;
  stream.socket().close(ignored);
}

template <class Handler>
void async_teardown(boost::beast::role_type role, GatewayStream& stream, Handler&& handler) {
  boost::beast::websocket::async_teardown(role, stream.socket(), std::forward<Handler>(handler));
}

/// `127.0.0.1:7420`, for the `Host` of a request.
std::string host_and_port(const FoundGateway& gateway);

/// Opens a connection. Throws std::runtime_error that names the gateway if it does not accept one, or if the server's
/// certificate does not match the lock file.
Task<GatewayStream> connect(const FoundGateway& gateway);

}  // namespace agw::cli
