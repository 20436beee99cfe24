#include "io/proxy/proxied_network.hpp"

#include <netdb.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/cancellation.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"
#include "base/text/message_of.hpp"
#include "io/http/public_address.hpp"
#include "io/process/namespace_socket.hpp"

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t max_head_bytes = std::size_t{64} * 1024;
constexpr std::size_t max_information_bytes = 4096;
constexpr std::size_t relay_bytes = std::size_t{64} * 1024;
constexpr std::size_t max_tunnels = 256;
constexpr std::size_t max_addresses = 4;
constexpr auto time_for_head = 10s;
constexpr auto time_to_connect = 10s;

/// A message with one sentence as its body.
std::string status_message(unsigned status, std::string_view reason, const std::string& sentence) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: "
      "close\r\n\r\n{}\n",
      status, reason, sentence.size() + 1, sentence);
}

std::string refusal_message(unsigned status, const std::string& sentence) {
  return status_message(status, status == 403 ? "Forbidden" : "Bad Gateway", sentence);
}

/// The addresses of a host, in the resolver's order. Blocks.
std::vector<asio::ip::address> addresses_of(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  std::vector<asio::ip::address> addresses;
  for (const auto* each = found; each && addresses.size() < max_addresses; each = each->ai_next) {
    asio::ip::tcp::endpoint endpoint;
    if (each->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
    endpoint.resize(each->ai_addrlen);
    addresses.push_back(endpoint.address());
  }
  return addresses;
}

Task<> read_head(tcp::socket& socket, std::string& buffer, std::size_t& size, error_code& error) {
  size = co_await asio::async_read_until(socket, asio::dynamic_buffer(buffer, max_head_bytes), "\r\n\r\n",
                                         asio::redirect_error(asio::use_awaitable, error));
}

Task<> connect_to(tcp::socket& socket, tcp::endpoint endpoint, error_code& error) {
  co_await socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
}

Task<> send(tcp::socket& socket, std::string bytes, error_code& error) {
  co_await asio::async_write(socket, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
}

void write_line(const Descriptor& to, std::string line) {
  for (auto& c : line) {
    if (c == '\n') c = ' ';
  }
  line += '\n';
  // A failure means that the sandbox is gone.
  [[maybe_unused]] const auto written = ::write(to.get(), line.data(), line.size());
}

}  // namespace

/// A program's connection and the one to its host.
struct ProxiedNetwork::Tunnel {
  Tunnel(ProxiedNetwork& network, tcp::socket from) : inside(std::move(from)), outside(network.loop_), owner(network) {
    ++owner.tunnels_;
  }
  ~Tunnel() {
    --owner.tunnels_;
    owner.tunnel_ended_.pulse();
  }
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  void close() {
    error_code ignored;
    inside.close(ignored);
    outside.close(ignored);
  }

  tcp::socket inside;
  tcp::socket outside;
  ProxiedNetwork& owner;
};

ProxiedNetwork::ProxiedNetwork(Loop& loop, BlockingPool& blocking, ProxyPolicy policy)
    : loop_(loop), blocking_(blocking), policy_(std::move(policy)), tunnel_ended_(loop), connections_(loop) {
  connections_.on_failure([](const std::exception_ptr& failure) {
    log::error("a connection of a sandbox failed: {}", message_of(failure));
  });
}

ProxiedNetwork::~ProxiedNetwork() = default;

std::map<std::string, std::string> ProxiedNetwork::variables() const {
  const auto url = fmt::format("http://127.0.0.1:{}", port);
  std::map<std::string, std::string> out;
  for (const auto* name : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"})
    out[name] = url;
  // Servers that a command starts for itself.
  for (const auto* name : {"NO_PROXY", "no_proxy"}) out[name] = "localhost,127.0.0.1,::1";
  out["NODE_USE_ENV_PROXY"] = "1";
  out["GIT_SSH_COMMAND"] = fmt::format(
      "ssh -o \"ProxyCommand=/bin/bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}; printf \\\"CONNECT %h:%p HTTP/1.1\\\\r\\\\n"
      "\\\\r\\\\n\\\" >&3; while read -r line <&3 && [ \\${{#line}} -gt 1 ]; do :; done; cat <&3 & exec cat >&3'\"",
      port);
  return out;
}

void ProxiedNetwork::attach(pid_t /*bubblewrap*/, Descriptor information, Descriptor ready) {
  connections_.spawn(serve(std::move(information), std::move(ready)));
}

Task<> ProxiedNetwork::close() {
  connections_.cancel();
  co_await connections_.join();
}

Task<> ProxiedNetwork::serve(Descriptor information, Descriptor ready) {
  asio::posix::stream_descriptor pipe(loop_, information.release());
  std::string text;
  error_code error;
  co_await asio::async_read_until(pipe, asio::dynamic_buffer(text, max_information_bytes), '}',
                                  asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return;
  Descriptor listener;
  std::string problem;
  try {
    const auto child = static_cast<pid_t>(parse_stored_json(text).at("child-pid").to_number<std::int64_t>());
    listener = co_await blocking_.run([child] { return listen_in_namespace_of(child, port); });
  } catch (const std::exception& failure) {
    problem = failure.what();
  }
  if (!problem.empty()) {
    log::error("a sandbox gets no network: {}", problem);
    write_line(ready, "the network of the sandbox cannot be set up: " + problem);
    co_return;
  }
  write_line(ready, "ready");
  ready = Descriptor();
  co_await accept_all(std::move(listener));
}

Task<> ProxiedNetwork::accept_all(Descriptor listener) {
  tcp::acceptor acceptor(loop_);
  acceptor.assign(tcp::v4(), listener.release());
  for (;;) {
    while (tunnels_ >= max_tunnels) co_await tunnel_ended_.wait();
    tcp::socket socket(loop_);
    error_code error;
    co_await acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) continue;
    connections_.spawn(converse(std::make_shared<Tunnel>(*this, std::move(socket))));
  }
}

Task<> ProxiedNetwork::converse(TunnelPointer tunnel) {
  std::string buffer;
  std::size_t size = 0;
  error_code error;
  StopSource never;
  const auto read = co_await with_timeout(never, time_for_head, read_head(tunnel->inside, buffer, size, error));
  if (read == WaitResult::done && !error) {
    co_await open_tunnel(std::move(tunnel), buffer.substr(0, size), buffer.substr(size));
  } else if (error == asio::error::not_found) {
    co_await send(tunnel->inside,
                  status_message(431, "Request Header Fields Too Large", "the head of the request is over 64 KiB"),
                  error);
  }
}

Task<> ProxiedNetwork::open_tunnel(TunnelPointer tunnel, std::string head, std::string rest) {
  error_code error;
  const auto request = read_proxy_request(head);
  if (!request) {
    co_await send(tunnel->inside,
                  status_message(400, "Bad Request",
                                 "this is a proxy: send CONNECT HOST:PORT, or a request for a whole http:// URL"),
                  error);
    co_return;
  }
  auto verdict = co_await policy_.judge(request->target);
  unsigned status = 403;
  if (verdict.allowed) verdict = co_await connect(tunnel, request->target, std::move(verdict), status);
  policy_.note(request->target, verdict);
  if (!verdict.allowed) {
    co_await send(tunnel->inside, refusal_message(status, verdict.reason), error);
    co_return;
  }
  if (request->is_tunnel) co_await send(tunnel->inside, "HTTP/1.1 200 Connection established\r\n\r\n", error);
  if (!error) co_await send(tunnel->outside, request->head + rest, error);
  if (error) co_return;
  connections_.spawn(pump(tunnel, false));
  co_await pump(tunnel, true);
}

/// The verdict, now that the addresses are known. `status` is that of a refusal.
Task<HostVerdict> ProxiedNetwork::connect(TunnelPointer tunnel, HostPort target, HostVerdict verdict,
                                          unsigned& status) {
  const auto addresses = co_await blocking_.run([host = target.host] { return addresses_of(host); });
  verdict.allowed = false;
  status = 502;
  verdict.reason = fmt::format("{} has no address: is the name right?", target.host);
  for (const auto& address : addresses) {
    if (!verdict.may_be_private && !is_public_address(address)) {
      status = 403;
      verdict.reason = fmt::format(
          "{} leads to {}, which is no public address; a person names it in the `hosts` of the agent's capabilities",
          target.text(), address.to_string());
      continue;
    }
    error_code error;
    StopSource never;
    const tcp::endpoint endpoint(address, target.port);
    const auto tried = co_await with_timeout(never, time_to_connect, connect_to(tunnel->outside, endpoint, error));
    if (tried == WaitResult::done && !error) {
      verdict.allowed = true;
      co_return verdict;
    }
    status = 502;
    verdict.reason =
        fmt::format("{} cannot be reached: {}", target.text(), error ? error.message() : "no answer in 10 s");
    error_code ignored;
    tunnel->outside.close(ignored);
  }
  co_return verdict;
}

Task<> ProxiedNetwork::pump(TunnelPointer tunnel, bool outward) {
  auto& from = outward ? tunnel->inside : tunnel->outside;
  auto& to = outward ? tunnel->outside : tunnel->inside;
  std::vector<char> buffer(relay_bytes);
  error_code error;
  while (!error) {
    const auto size =
        co_await from.async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
    if (error) break;
    co_await asio::async_write(to, asio::buffer(buffer.data(), size), asio::redirect_error(asio::use_awaitable, error));
  }
  error_code ignored;
  if (error == asio::error::eof)
    to.shutdown(tcp::socket::shutdown_send, ignored);
  else
    tunnel->close();
}

}  // namespace agw
