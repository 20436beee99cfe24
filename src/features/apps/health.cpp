#include "features/apps/health.hpp"

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/cancellation.hpp"

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr auto health_timeout = 5s;
constexpr std::size_t max_status_line_length = 4096;

/// Sets `status` to that of the response to a GET; leaves it if there is no response.
Task<> request_status(AppEndpoint endpoint, std::string path, int& status) {
  auto socket = co_await connect_to(endpoint);
  if (!socket) co_return;
  const auto request =
      fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", path, endpoint.port);
  error_code error;
  co_await asio::async_write(*socket, asio::buffer(request), asio::redirect_error(asio::use_awaitable, error));
  std::string line;
  co_await asio::async_read_until(*socket, asio::dynamic_buffer(line, max_status_line_length), '\n',
                                  asio::redirect_error(asio::use_awaitable, error));
  constexpr std::size_t status_at = 9;  // after `HTTP/1.1 `
  if (error || !line.starts_with("HTTP/1.") || line.size() < status_at + 3) co_return;
  status = std::atoi(line.substr(status_at, 3).c_str());
}

bool has_line_break(const std::string& path) { return path.find_first_of(std::string("\r\n \0", 4)) != path.npos; }

bool binds(const tcp::endpoint& endpoint, int* port = nullptr) {
  asio::io_context unused;
  tcp::acceptor acceptor(unused);
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error && port) *port = acceptor.local_endpoint(error).port();
  return error != asio::error::address_in_use;
}

}  // namespace

Task<bool> is_healthy(AppEndpoint endpoint, std::string path) {
  if (path.empty()) co_return (co_await connect_to(endpoint)).has_value();
  if (has_line_break(path)) co_return false;
  if (!path.starts_with('/')) path.insert(path.begin(), '/');
  int status = 0;
  StopSource never;
  co_await with_timeout(never, health_timeout, request_status(endpoint, std::move(path), status));
  co_return status >= 200 && status < 400;
}

bool is_free_port(int port) {
  const auto number = static_cast<std::uint16_t>(port);
  return binds({asio::ip::address_v4::loopback(), number}) && binds({asio::ip::address_v6::loopback(), number});
}

int free_port() {
  int port = 0;
  if (!binds({asio::ip::address_v4::loopback(), 0}, &port) || port == 0) {
    throw std::system_error(std::make_error_code(std::errc::address_not_available), "no free port");
  }
  return port;
}

}  // namespace agw
