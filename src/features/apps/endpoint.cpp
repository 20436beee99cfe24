#include "features/apps/endpoint.hpp"

#include <array>
#include <cstdint>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/files/splice.hpp"
#include "io/proxy/proxied_network.hpp"

namespace agw {

using asio::ip::tcp;

namespace {

Task<std::optional<tcp::socket>> connect_to_host(std::uint16_t port) {
  const std::array<asio::ip::address, 2> addresses{asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()};
  for (const auto& address : addresses) {
    tcp::socket socket(co_await asio::this_coro::executor);
    const tcp::endpoint endpoint(address, port);
    boost::system::error_code error;
    socket.open(endpoint.protocol(), error);
    if (error) continue;
    send_without_pacing(socket.native_handle());
    co_await socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
    if (!error) co_return std::optional(std::move(socket));
  }
  co_return std::nullopt;
}

}  // namespace

Task<std::optional<tcp::socket>> connect_to(AppEndpoint endpoint) {
  if (endpoint.through) co_return co_await endpoint.through();
  const auto port = static_cast<std::uint16_t>(endpoint.port);
  if (endpoint.network) co_return co_await endpoint.network->connect_inside(port);
  co_return co_await connect_to_host(port);
}

}  // namespace agw
