// The only exit of a sandbox's network: a proxy that applies the policy to each host.
//
// A *tunnel* is a program's connection and its counterpart to the host. The *namespace* is the sandbox's network, in
// which the gateway has a listening socket although none of its processes runs there.
//
// The invariants: a connection is opened only to an address that was resolved here and checked, so later answers of a
// name server cannot redirect it. A name of the host's loopback or private network is reached only if a person named
// it. A program in the sandbox gets its response, including a refusal, before its connection ends.
//
//   1. `serve`: bubblewrap reports its child. A child of the gateway enters that network and creates the socket; then
//      the prologue gets `ready` and starts the command. If this fails, the prologue gets the reason and ends.
//   2. `accept_all`: accepts a limited number of tunnels at a time.
//   3. `open_tunnel`: reads the head. Ports of the sandbox's own loopback are connected inside; for other targets it
//      asks the policy, resolves, connects, and reports the verdict.
//   4. Bytes are relayed unchanged (`forward`), or, for hosts of the program's secrets, through a tunnel that fills
//   them
//      in (`decrypt`).
//
// `close` ends all tunnels. After a kill the kernel closes them, and the sandbox ends by itself.

#include "io/proxy/proxied_network.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <ranges>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"
#include "io/files/splice.hpp"
#include "io/http/public_address.hpp"
#include "io/proxy/decrypted_tunnel.hpp"
#include "io/proxy/relay.hpp"

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t max_head_bytes = std::size_t{64} * 1024;
constexpr std::size_t max_information_bytes = 4096;
constexpr std::size_t first_bytes = std::size_t{16} * 1024;
constexpr std::size_t max_tunnels = 256;
constexpr std::size_t max_addresses = 4;
constexpr std::size_t socket_batch = 16;
constexpr std::size_t max_discarded_bytes = std::size_t{16} * 1024 * 1024;
/// The last port that kernels assign by themselves.
constexpr std::uint16_t last_assigned_port = 60'999;
static_assert(ProxiedNetwork::port > last_assigned_port);
constexpr auto head_timeout = 10s;
constexpr auto connect_timeout = 10s;
constexpr auto refusal_linger = 2s;
constexpr auto accept_retry_delay = 100ms;
constexpr std::string_view tunnel_response = "HTTP/1.1 200 Connection established\r\n\r\n";

Task<> read_head(tcp::socket& socket, std::string& buffer, std::size_t& size, error_code& error) {
  size = co_await asio::async_read_until(socket, asio::dynamic_buffer(buffer, max_head_bytes), "\r\n\r\n",
                                         asio::redirect_error(asio::use_awaitable, error));
}

Task<> look_up(HostLookups& lookups, std::string host, HostLookups::Answer& found) {
  found = co_await lookups.find(std::move(host));
}

Task<> connect_to(tcp::socket& socket, tcp::endpoint endpoint, error_code& error) {
  if (!socket.is_open()) socket.open(endpoint.protocol(), error);
  if (error) co_return;
  if (endpoint.address().is_loopback()) send_without_pacing(socket.native_handle());
  co_await socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
}

Task<> send(tcp::socket& socket, std::string bytes, error_code& error) {
  co_await asio::async_write(socket, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
}

/// Reads remaining data from a program, so that it can read its refusal: closing with unread data would reset the
/// connection.
Task<> discard(tcp::socket& socket) {
  std::vector<char> buffer(max_head_bytes);
  std::size_t discarded = 0;
  error_code error;
  while (!error && discarded < max_discarded_bytes) {
    discarded +=
        co_await socket.async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
  }
}

bool is_loopback_name(std::string_view host) { return host == "localhost" || host == "127.0.0.1" || host == "::1"; }

void write_line(const Descriptor& to, std::string line) {
  for (auto& c : line) {
    if (c == '\n') c = ' ';
  }
  line += '\n';
  // A failure means that the sandbox has ended.
  [[maybe_unused]] const auto written = ::write(to.get(), line.data(), line.size());
}

}  // namespace

/// A program's connection and its counterpart to the host.
struct ProxiedNetwork::Tunnel {
  Tunnel(ProxiedNetwork& network, tcp::socket from) : inside(std::move(from)), outside(network.loop_), owner(network) {
    ++owner.tunnels_;
  }
  ~Tunnel() {
    AGW_ASSERT(owner.tunnels_ > 0);
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

ProxiedNetwork::ProxiedNetwork(Loop& loop, BlockingPool& blocking, ProxyPolicy policy,
                               std::shared_ptr<const ProgramSecrets> secrets)
    : loop_(loop),
      blocking_(blocking),
      policy_(std::move(policy)),
      lookups_(loop, policy_.resolve, HostLookups::For::programs),
      secrets_(std::move(secrets)),
      tunnel_ended_(loop),
      connections_(loop) {
  AGW_ASSERT(policy_.judge);
  AGW_ASSERT(policy_.note);
  AGW_ASSERT(policy_.resolve);
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
  // Programs reach servers within their sandbox without the proxy.
  for (const auto* name : {"NO_PROXY", "no_proxy"}) out[name] = policy_.names_loopback ? "" : "localhost,127.0.0.1,::1";
  out["NODE_USE_ENV_PROXY"] = "1";
  out["GIT_SSH_COMMAND"] = fmt::format(
      "ssh -o \"ProxyCommand=/bin/bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}; printf \\\"CONNECT %h:%p HTTP/1.1\\\\r\\\\n"
      "\\\\r\\\\n\\\" >&3; while read -r line <&3 && [ \\${{#line}} -gt 1 ]; do :; done; cat <&3 & exec cat >&3'\"",
      port);
  if (!secrets_) return out;
  out.insert(secrets_->stand_ins().begin(), secrets_->stand_ins().end());
  for (const auto& name : certificate_variables()) out[name] = certificates_path;
  return out;
}

std::string ProxiedNetwork::certificates() const { return secrets_ ? secrets_->certificates() : std::string(); }

void ProxiedNetwork::attach(pid_t /*bubblewrap*/, Descriptor information, Descriptor ready) {
  AGW_ASSERT(information);
  AGW_ASSERT(ready);
  connections_.spawn(serve(std::move(information), std::move(ready)));
}

Task<> ProxiedNetwork::close() {
  namespace_.reset();
  spare_sockets_.clear();
  connections_.cancel();
  co_await connections_.join();
  AGW_ASSERT(tunnels_ == 0);
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
    auto made = co_await blocking_.run([child] {
      auto entered = std::make_shared<const NetworkNamespace>(child);
      auto socket = entered->listen(port);
      return std::pair(std::move(entered), std::move(socket));
    });
    namespace_ = std::move(made.first);
    listener = std::move(made.second);
  } catch (const std::exception& failure) {
    problem = failure.what();
  }
  if (!problem.empty()) {
    log::error("a sandbox gets no network: {}", problem);
    write_line(ready, "the network of the sandbox cannot be set up: " + problem);
    co_return;
  }
  AGW_ASSERT(listener);
  write_line(ready, "ready");
  ready = Descriptor();
  co_await accept_all(std::move(listener));
}

Task<> ProxiedNetwork::accept_all(Descriptor listener) {
  tcp::acceptor acceptor(loop_);
  acceptor.assign(tcp::v4(), listener.release());
  send_without_pacing(acceptor.native_handle());
  for (;;) {
    while (tunnels_ >= max_tunnels) co_await tunnel_ended_.wait();
    tcp::socket socket(loop_);
    error_code error;
    co_await acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    StopSource never;
    if (error) co_await pause(never, accept_retry_delay);
    if (error) continue;
    connections_.spawn(handle_connection(std::make_shared<Tunnel>(*this, std::move(socket))));
  }
}

Task<> ProxiedNetwork::handle_connection(TunnelPointer tunnel) {
  std::string buffer;
  std::size_t size = 0;
  error_code error;
  StopSource never;
  const auto read = co_await with_timeout(never, head_timeout, read_head(tunnel->inside, buffer, size, error));
  if (read == WaitResult::done && !error) {
    AGW_ASSERT(size <= buffer.size());
    co_await open_tunnel(std::move(tunnel), buffer.substr(0, size), buffer.substr(size));
  } else if (error == asio::error::not_found) {
    co_await refuse(std::move(tunnel), proxy_response(431, "the head of the request is over 64 KiB"));
  }
}

Task<> ProxiedNetwork::refuse(TunnelPointer tunnel, std::string message) {
  AGW_ASSERT(!message.empty());
  error_code error;
  co_await send(tunnel->inside, std::move(message), error);
  tunnel->inside.shutdown(tcp::socket::shutdown_send, error);
  StopSource never;
  co_await with_timeout(never, refusal_linger, discard(tunnel->inside));
}

Task<> ProxiedNetwork::open_tunnel(TunnelPointer tunnel, std::string head, std::string rest) {
  auto request = read_proxy_request(head);
  if (!request) {
    co_return co_await refuse(
        std::move(tunnel),
        proxy_response(400, "this is a proxy: send CONNECT HOST:PORT, or a request for a whole http:// URL"));
  }
  if (co_await connect_to_own_loopback(tunnel, request->target))
    co_return co_await forward(std::move(tunnel), *std::move(request), std::move(rest));
  auto verdict = co_await policy_.judge(request->target);
  unsigned status = 403;
  if (verdict.allowed) verdict = co_await connect(tunnel, request->target, std::move(verdict), status);
  verdict.is_forbidden = !verdict.allowed && status == 403;
  policy_.note(request->target, verdict);
  if (!verdict.allowed) co_return co_await refuse(std::move(tunnel), proxy_response(status, verdict.reason));
  if (request->is_tunnel && secrets_ && secrets_->decrypts(request->target))
    co_await decrypt(std::move(tunnel), *std::move(request), std::move(rest));
  else
    co_await forward(std::move(tunnel), *std::move(request), std::move(rest));
}

/// Forwards a connection that does not start with TLS unchanged, without secrets.
Task<> ProxiedNetwork::decrypt(TunnelPointer tunnel, ProxyRequest request, std::string received) {
  constexpr char handshake_record = 22;  // RFC 8446, 5.1
  error_code error;
  co_await send(tunnel->inside, std::string(tunnel_response), error);
  if (received.empty() && !error) {
    received.resize(first_bytes);
    received.resize(co_await tunnel->inside.async_read_some(asio::buffer(received),
                                                            asio::redirect_error(asio::use_awaitable, error)));
  }
  if (error) co_return;
  AGW_ASSERT(secrets_);
  AGW_ASSERT(!received.empty());
  if (received.front() != handshake_record) {
    request.is_tunnel = false;
    co_return co_await forward(std::move(tunnel), std::move(request), std::move(received));
  }
  const DecryptedTunnel::Services services{
      .loop = loop_, .blocking = blocking_, .secrets = secrets_, .connections = connections_};
  const auto decrypted = std::make_shared<DecryptedTunnel>(services, request.target, tunnel->inside, tunnel->outside,
                                                           std::move(received), tunnel);
  if (co_await decrypted->run() || std::exchange(has_reported_refusal_, true)) co_return;
  log::info(
      "a program does not accept the gateway's certificate for {}: if it insists on the host's own, name the host in "
      "`pass_through`",
      request.target.text());
}

Task<> ProxiedNetwork::forward(TunnelPointer tunnel, ProxyRequest request, std::string rest) {
  error_code error;
  // Detects a peer that disappeared during days without traffic.
  tunnel->outside.set_option(tcp::socket::keep_alive(true), error);
  error.clear();
  if (request.is_tunnel) co_await send(tunnel->inside, std::string(tunnel_response), error);
  if (!error) co_await send(tunnel->outside, request.head + rest, error);
  if (error) co_return;
  connections_.spawn(pump(tunnel, false));
  co_await pump(tunnel, true);
}

Task<bool> ProxiedNetwork::connect_to_own_loopback(TunnelPointer tunnel, HostPort target) {
  if (!is_loopback_name(target.host) || target.port == port) co_return false;
  auto socket = co_await connect_inside(target.port);
  if (!socket) co_return false;
  tunnel->outside = *std::move(socket);
  co_return true;
}

Task<std::optional<tcp::socket>> ProxiedNetwork::connect_inside(std::uint16_t inner_port) {
  const std::array<asio::ip::address, 2> addresses{asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()};
  for (const auto& address : addresses) {
    const tcp::endpoint endpoint(address, inner_port);
    auto made = co_await socket_inside(endpoint.protocol().family());
    if (!made) continue;
    tcp::socket socket(loop_, endpoint.protocol(), made.release());
    error_code error;
    co_await connect_to(socket, endpoint, error);
    if (!error) co_return std::optional(std::move(socket));
  }
  co_return std::nullopt;
}

/// An unconnected socket in the sandbox. Several are created at once, because that needs a child process. Empty if
/// there is no sandbox, or if it does not support the family.
Task<Descriptor> ProxiedNetwork::socket_inside(int family) {
  const auto entered = namespace_;
  if (!entered) co_return Descriptor();
  if (spare_sockets_[family].empty()) {
    std::vector<Descriptor> made;
    try {
      made = co_await blocking_.run([entered, family] { return entered->sockets(family, socket_batch); });
    } catch (const std::system_error& failure) {
      if (family == AF_INET) log::warn("a sandbox cannot be reached: {}", failure.what());
    }
    // The sandbox may have ended in the meantime.
    if (made.empty() || !namespace_) co_return Descriptor();
    std::ranges::move(made, std::back_inserter(spare_sockets_[family]));
  }
  auto& spare = spare_sockets_[family];
  AGW_ASSERT(!spare.empty());
  auto socket = std::move(spare.back());
  spare.pop_back();
  AGW_ASSERT(socket);
  co_return socket;
}

/// Completes the verdict once the addresses are known. `status` is set for a refusal.
Task<HostVerdict> ProxiedNetwork::connect(TunnelPointer tunnel, HostPort target, HostVerdict verdict,
                                          unsigned& status) {
  AGW_ASSERT(verdict.allowed);
  StopSource never;
  HostLookups::Answer found;
  co_await with_timeout(never, policy_.time_to_resolve, look_up(lookups_, target.host, found));
  verdict.allowed = false;
  status = 502;
  verdict.reason = fmt::format("{} has no address: is the name right?", target.host);
  for (const auto& address : found.addresses | std::views::take(max_addresses)) {
    if (!verdict.may_be_private && !is_public_address(address)) {
      status = 403;
      verdict.reason = fmt::format("{} leads to {}, which is no public address; a person names it in the `hosts` of {}",
                                   target.text(), address.to_string(), policy_.named_in);
      continue;
    }
    error_code error;
    const tcp::endpoint endpoint(address, target.port);
    const auto tried = co_await with_timeout(never, connect_timeout, connect_to(tunnel->outside, endpoint, error));
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
  AGW_ASSERT(!verdict.allowed);
  AGW_ASSERT(!verdict.reason.empty());
  co_return verdict;
}

Task<> ProxiedNetwork::pump(TunnelPointer tunnel, bool outward) {
  auto& from = outward ? tunnel->inside : tunnel->outside;
  auto& to = outward ? tunnel->outside : tunnel->inside;
  if (!co_await relay(from, to)) tunnel->close();
}

}  // namespace agw
