#pragma once

#include <optional>
#include <string>
#include <utility>

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
    if (encrypted_) return encrypted_->async_read_some(buffers, std::forward<Token>(token));
    return plain_->async_read_some(buffers, std::forward<Token>(token));
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    if (encrypted_) return encrypted_->async_write_some(buffers, std::forward<Token>(token));
    return plain_->async_write_some(buffers, std::forward<Token>(token));
  }

private:
  std::optional<Socket> plain_;
  std::optional<Encrypted> encrypted_;
};

// Customization points for Beast: how to close a connection, and how to after a timeout.

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
/// certificate is not that of the gateway that holds the lock.
Task<GatewayStream> connect(const FoundGateway& gateway);

}  // namespace agw::cli
