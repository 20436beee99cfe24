#include "cli/client/message_stream.hpp"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>

#include "base/async/cancellation.hpp"
#include "cli/client/gateway_stream.hpp"

namespace agw::cli {

namespace {

namespace beast = boost::beast;
using namespace std::chrono_literals;

constexpr auto open_limit = 10s;

}  // namespace

struct MessageStream::Socket {
  explicit Socket(GatewayStream connected) : stream(std::move(connected)) {}

  static Task<> open(const FoundGateway& gateway, const std::string& path, std::unique_ptr<Socket>& socket);
  Task<> shake_hands(const FoundGateway& gateway, const std::string& path);

  beast::websocket::stream<GatewayStream, false> stream;
  beast::flat_buffer buffer;
};

Task<> MessageStream::Socket::open(const FoundGateway& gateway, const std::string& path,
                                   std::unique_ptr<Socket>& socket) {
  socket = std::make_unique<Socket>(co_await connect(gateway));
  co_await socket->shake_hands(gateway, path);
}

Task<> MessageStream::Socket::shake_hands(const FoundGateway& gateway, const std::string& path) {
  stream.set_option(beast::websocket::stream_base::decorator([&](beast::websocket::request_type& request) {
    if (gateway.token) request.set(beast::http::field::authorization, "Bearer " + *gateway.token);
  }));
  stream.read_message_max(0);
  co_await stream.async_handshake(host_and_port(gateway), path, asio::use_awaitable);
}

MessageStream::MessageStream(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}

MessageStream::~MessageStream() = default;

Task<std::unique_ptr<MessageStream>> MessageStream::open(const FoundGateway& gateway, std::string path) {
  std::unique_ptr<Socket> socket;
  StopSource never;
  std::string why = fmt::format("no response within {} s", open_limit.count());
  try {
    if (co_await with_timeout(never, open_limit, Socket::open(gateway, path, socket)) == WaitResult::done)
      co_return std::unique_ptr<MessageStream>(new MessageStream(std::move(socket)));
  } catch (const boost::system::system_error& error) {
    why = error.code().message();
  }
  throw std::runtime_error(fmt::format("the gateway at {} did not open a WebSocket: {}", gateway.url, why));
}

Task<std::optional<json::object>> MessageStream::next() {
  auto& [stream, buffer] = *socket_;
  try {
    buffer.clear();
    co_await stream.async_read(buffer, asio::use_awaitable);
  } catch (const boost::system::system_error&) {
    co_return std::nullopt;  // the reason does not matter: the reader reconnects and catches up
  }
  auto message = parse_json(beast::buffers_to_string(buffer.data()), {.max_depth = max_own_json_depth});
  if (!message || !message->is_object())
    throw std::runtime_error("the gateway sent a message that is not a JSON object");
  co_return std::move(message->get_object());
}

Task<bool> MessageStream::send(std::string message) {
  try {
    co_await socket_->stream.async_write(asio::buffer(message), asio::use_awaitable);
  } catch (const boost::system::system_error&) {
    co_return false;
  }
  co_return true;
}

}  // namespace agw::cli
