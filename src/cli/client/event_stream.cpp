#include "cli/client/event_stream.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>

#include "base/async/cancellation.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "cli/client/connection.hpp"

namespace agw::cli {

namespace {

namespace beast = boost::beast;
using namespace std::chrono_literals;

constexpr auto subscribe_limit = 10s;

}  // namespace

struct EventStream::Socket {
  explicit Socket(GatewayStream connected) : stream(std::move(connected)) {}

  Task<> subscribe(const FoundGateway& gateway, const std::string& thread_id, bool approvals);
  Task<json::object> read();

  beast::websocket::stream<GatewayStream, false> stream;
  beast::flat_buffer buffer;
};

Task<> EventStream::Socket::subscribe(const FoundGateway& gateway, const std::string& thread_id, bool approvals) {
  stream.set_option(beast::websocket::stream_base::decorator([&](beast::websocket::request_type& request) {
    if (gateway.token) request.set(beast::http::field::authorization, "Bearer " + *gateway.token);
  }));
  stream.read_message_max(0);
  co_await stream.async_handshake(host_and_port(gateway), "/ws", asio::use_awaitable);
  const auto message = to_json(json::value{{"type", "subscribe"}, {"threadId", thread_id}, {"approvals", approvals}});
  co_await stream.async_write(asio::buffer(message), asio::use_awaitable);
  // Until the subscription is confirmed, events of all threads arrive: they are discarded.
  while (string_member(co_await read(), "type") != "subscribed") continue;
}

Task<json::object> EventStream::Socket::read() {
  buffer.clear();
  co_await stream.async_read(buffer, asio::use_awaitable);
  auto message = parse_json(beast::buffers_to_string(buffer.data()), {.max_depth = max_own_json_depth});
  if (!message || !message->is_object())
    throw std::runtime_error("the gateway sent an event that is not a JSON object");
  co_return std::move(message->get_object());
}

EventStream::EventStream(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}

EventStream::~EventStream() = default;

Task<std::unique_ptr<EventStream>> EventStream::open(const FoundGateway& gateway, std::string thread_id,
                                                     bool approvals) {
  auto socket = std::make_unique<Socket>(co_await connect(gateway));
  StopSource never;
  std::string why = fmt::format("no response within {} s", subscribe_limit.count());
  try {
    if (co_await with_timeout(never, subscribe_limit, socket->subscribe(gateway, thread_id, approvals)) ==
        WaitResult::done) {
      co_return std::unique_ptr<EventStream>(new EventStream(std::move(socket)));
    }
  } catch (const boost::system::system_error& error) {
    why = error.code().message();
  }
  throw std::runtime_error(fmt::format("the gateway at {} did not open a WebSocket: {}", gateway.url, why));
}

Task<std::optional<json::object>> EventStream::next() {
  try {
    co_return co_await socket_->read();
  } catch (const boost::system::system_error&) {
    co_return std::nullopt;  // The reason does not matter: the reader reconnects and catches up.
  }
}

}  // namespace agw::cli
