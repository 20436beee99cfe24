#include "cli/connection.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

namespace agw::cli {

namespace {

boost::urls::url_view parsed_url(const FoundGateway& gateway) {
  const auto url = boost::urls::parse_uri(gateway.url);
  if (url && url->scheme_id() == boost::urls::scheme::http && url->has_port()) return *url;
  throw std::runtime_error(
      fmt::format("the gateway answers at {}: the command line speaks to http:// addresses only", gateway.url));
}

[[noreturn]] void refuse(const FoundGateway& gateway, const boost::system::error_code& error) {
  throw std::runtime_error(fmt::format("the gateway (process {}) runs but cannot be reached at {}: {}", gateway.pid,
                                       gateway.url, error.message()));
}

}  // namespace

std::string host_and_port(const FoundGateway& gateway) {
  const auto text = parsed_url(gateway).encoded_host_and_port();
  return {text.data(), text.size()};
}

Task<asio::ip::tcp::socket> connect(const FoundGateway& gateway) {
  const auto url = parsed_url(gateway);
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  asio::ip::tcp::socket socket(executor);
  boost::system::error_code error;
  // A numeric address is read at once; a name is one of this machine.
  const auto addresses = resolver.resolve(url.host_address(), std::string(url.port()), error);
  if (error) refuse(gateway, error);
  co_await asio::async_connect(socket, addresses, asio::redirect_error(asio::use_awaitable, error));
  if (error) refuse(gateway, error);
  co_return socket;
}

}  // namespace agw::cli
