// Connections to other nodes: each begins with an HTTP upgrade and then carries any protocol.
//
//   1. `open` reads the other node's address and the epoch of its current start, and seals the call for that start.
//   2. `connect` opens the connection. With `https://`, no request is sent before the certificate was verified.
//   3. `request_upgrade` sends the request. After a 101 the connection belongs to the caller; 404 and 502 mean that the
//      node serves nothing at the path; any other result is an error with the node's name.
//   4. An encrypted connection stays in this class: the caller gets one end of a pair of sockets, and two coroutines
//      relay between the other end and the connection (`send_all`, `receive_all`).
//
// The invariants: 2 and 3 take at most five seconds, including the lookup of the host name. Closing the caller's socket
// closes the connection, and vice versa; a node that reads nothing for three minutes, or vanishes, also ends it. The
// other node never forwards such a call (`check`), so there are no loops.

#include "features/cluster/node_links.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "api/error.hpp"
#include "api/request.hpp"
#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "features/cluster/store.hpp"
#include "io/http/web_url.hpp"
#include "io/process/blocking.hpp"
#include "io/tls/certificate_authority.hpp"
#include "io/tls/tls_stream.hpp"
#include "io/tls/trusted_roots.hpp"
#include "storage/database.hpp"

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr auto time_to_connect = 5s;
constexpr std::chrono::milliseconds unresponsive_timeout = 3min;  // longer than the timeout between a node and its app
constexpr auto keepalive_interval = 1min;
static_assert(keepalive_interval < unresponsive_timeout);

constexpr int node_away = 503;
constexpr std::size_t max_head = 16 * 1024;
constexpr std::size_t piece_size = 64 * 1024;

constexpr std::string_view end_of_head = "\r\n\r\n";
constexpr char mark_of_loopback = '#';

/// An id that differs between hosts, and between containers of one host.
std::string this_loopback() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::error_code error;
  const auto network = std::filesystem::read_symlink("/proc/self/ns/net", error);
  return to_hex(sha256(boot + network.string()).substr(0, 8));
}

/// The reason for a failed connection, as text for people.
class LinkError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

void require_success(const error_code& error) {
  if (error) throw LinkError(error.message());
}

/// Detects a node that hangs or whose host has vanished, which would otherwise keep the connection open.
void enable_keepalive(tcp::socket& socket) {
  const auto set = [&](int level, int name, unsigned value) {
    ::setsockopt(socket.native_handle(), level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, std::chrono::seconds(keepalive_interval).count());
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, unresponsive_timeout.count());
}

std::uint16_t port_of(const WebUrl& url) {
  const auto& origin = url.origin();
  const auto colon = origin.rfind(':');
  const bool has_port = origin.find_first_not_of("0123456789", colon + 1) == origin.npos;
  if (has_port) return static_cast<std::uint16_t>(std::stoi(origin.substr(colon + 1)));
  return origin.starts_with("https:") ? 443 : 80;
}

/// Throws ApiError if the address is only for the host, or container, of the node.
WebUrl reachable_url(const std::string& node, const std::string& address, std::string_view loopback) {
  const auto mark = address.find(mark_of_loopback);
  const bool is_of_another_host = mark != address.npos && std::string_view(address).substr(mark + 1) != loopback;
  auto url = WebUrl::parse(address);
  if (url && !is_of_another_host) return *std::move(url);
  throw ApiError(node_away, fmt::format("the node {} runs this, and cannot be reached from here: set cluster.address "
                                        "in its configuration",
                                        node));
}

std::string head_of_request(const WebUrl& url, const std::string& path, const std::string& seal) {
  const auto host = std::string_view(url.origin()).substr(url.origin().find("//") + 2);
  return fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{}: {}\r\n\r\n", path,
                     host, node_seal_header, seal);
}

}  // namespace

/// A connection while it is opened and, if it is encrypted, until it ends: then the caller has the other end of `near`.
struct NodeLinks::Link {
  Link(Loop& loop, WebUrl to) : url(std::move(to)), outside(loop), near(loop) {}

  bool is_encrypted() const { return url.origin().starts_with("https:"); }

  WebUrl url;
  Socket outside;
  std::optional<TlsStream> tls;
  Socket near;
  bool has_address = false;
  bool is_not_served = false;
};

NodeLinks::NodeLinks(Loop& loop, Database& database, BlockingPool& blocking, const Options& options)
    : loop_(loop),
      database_(database),
      blocking_(blocking),
      lookups_(loop),
      options_(options),
      seals_(options.secret, options.node, options.epoch),
      loopback_(this_loopback()),
      group_(loop) {
  AGW_ASSERT(!options_.node.empty());
  AGW_ASSERT(!options_.secret.empty());
  AGW_ASSERT(options_.epoch > 0);
  group_.on_failure([](const std::exception_ptr& failure) {
    log::debug("a connection to another node has ended: {}", message_of(failure));
  });
}

NodeLinks::~NodeLinks() = default;

std::string NodeLinks::address_on_loopback(const std::string& url) { return url + mark_of_loopback + this_loopback(); }

Task<> NodeLinks::stop() {
  stopping_.request();
  group_.cancel();
  co_await group_.join();
}

void NodeLinks::check(const Request& request) {
  const auto path = "/" + boost::algorithm::join(request.segments, "/");
  if (!seals_.accept(request.header(node_seal_header).value_or(""), path))
    throw Forbidden("only another node of this cluster may ask for this");
}

Task<std::optional<tcp::socket>> NodeLinks::open(std::string node, std::string path) {
  AGW_ASSERT(!node.empty());
  AGW_ASSERT(path.starts_with('/'));
  const auto known =
      co_await database_.read([node](Connection& connection) { return cluster_store::address_of(connection, node); });
  const auto url = reachable_url(node, known.address, loopback_);
  const auto seal = node_seal(options_.secret, {.from = options_.node,
                                                .epoch = options_.epoch,
                                                .number = ++calls_,
                                                .to = node,
                                                .to_epoch = known.epoch,
                                                .path = path});
  auto head = head_of_request(url, path, seal);
  const auto link = std::make_shared<Link>(loop_, url);
  std::string problem;
  try {
    const auto end = co_await with_timeout(stopping_, time_to_connect, connect(link, std::move(head)));
    if (stopping_.requested()) problem = "this node stops";
    if (end == WaitResult::timed_out)
      problem = link->has_address ? "it does not answer" : "its name is not found in time";
  } catch (const LinkError& error) {
    problem = error.what();
  } catch (const TlsError& error) {
    problem = error.what();
  }
  if (!problem.empty())
    throw ApiError(node_away,
                   fmt::format("the node {} runs this, and cannot be reached at {}: {}", node, url.origin(), problem));
  AGW_ASSERT(link->has_address);
  AGW_ASSERT(link->tls.has_value() == link->is_encrypted());
  if (link->is_not_served) co_return std::nullopt;
  if (!link->is_encrypted()) co_return std::optional(std::move(link->outside));
  co_return std::optional(local_socket(link));
}

Task<std::vector<tcp::endpoint>> NodeLinks::endpoints_of(WebUrl url) {
  error_code is_a_name;
  const auto address = asio::ip::make_address(url.host(), is_a_name);
  if (!is_a_name) co_return std::vector{tcp::endpoint(address, port_of(url))};
  const auto found = co_await lookups_.find(url.host());
  if (found.addresses.empty()) throw LinkError(found.problem);
  std::vector<tcp::endpoint> endpoints;
  endpoints.reserve(found.addresses.size());
  for (const auto& each : found.addresses) endpoints.emplace_back(each, port_of(url));
  co_return endpoints;
}

Task<> NodeLinks::connect(LinkPointer link, std::string head) {
  AGW_ASSERT(!link->has_address);
  const auto endpoints = co_await endpoints_of(link->url);
  AGW_ASSERT(!endpoints.empty());
  link->has_address = true;
  error_code error;
  co_await asio::async_connect(link->outside, endpoints, asio::redirect_error(asio::use_awaitable, error));
  require_success(error);
  link->outside.set_option(tcp::no_delay(true), error);
  enable_keepalive(link->outside);
  if (link->is_encrypted()) co_await start_tls(link);
  co_await request_upgrade(link, std::move(head));
}

Task<> NodeLinks::start_tls(LinkPointer link) {
  AGW_ASSERT(link->is_encrypted());
  AGW_ASSERT(!link->tls);
  if (!roots_) roots_ = co_await blocking_.run([] { return TrustedRoots::load(TrustedRoots::find_file()); });
  link->tls.emplace(loop_, link->outside, roots_->session_to(link->url.host()));
  if (co_await link->tls->handshake(time_to_connect)) co_return;
  roots_.reset();  // Reloaded next time: the missing root may have been installed.
  throw LinkError(handshake_problem(link->tls->session()));
}

/// Reads the response head in pieces: the other node sends nothing after it before this node has sent data.
Task<> NodeLinks::request_upgrade(LinkPointer link, std::string head) {
  AGW_ASSERT(head.ends_with(end_of_head));
  // The seal in the head must not be sent unencrypted to a node with a certificate.
  AGW_ASSERT(link->tls.has_value() == link->is_encrypted());
  error_code error;
  if (link->tls) {
    if (!co_await link->tls->write(head)) throw LinkError("the connection broke");
  } else {
    co_await asio::async_write(link->outside, asio::buffer(head), asio::redirect_error(asio::use_awaitable, error));
    require_success(error);
  }
  std::string answer;
  std::string piece;
  while (!answer.ends_with(end_of_head) && answer.size() < max_head) {
    if (link->tls) {
      if (!co_await link->tls->read(piece)) break;
    } else {
      piece.resize(max_head);
      piece.resize(co_await link->outside.async_read_some(asio::buffer(piece),
                                                          asio::redirect_error(asio::use_awaitable, error)));
      if (error) break;
    }
    answer += piece;
    if (!answer.starts_with("HTTP/1.1 101 ") && answer.find(end_of_head) != answer.npos) break;
  }
  if (answer.starts_with("HTTP/1.1 101 ") && answer.ends_with(end_of_head)) co_return;
  constexpr std::string_view version = "HTTP/1.1 ";
  const bool is_http = answer.starts_with(version);
  link->is_not_served = answer.starts_with("HTTP/1.1 404 ") || answer.starts_with("HTTP/1.1 502 ");
  if (link->is_not_served) co_return;
  throw LinkError(is_http ? fmt::format("it answered {}", answer.substr(version.size(), 3)) : "the connection broke");
}

/// The unencrypted end of an encrypted connection, for the caller.
tcp::socket NodeLinks::local_socket(const LinkPointer& link) {
  AGW_ASSERT(link->tls);
  AGW_ASSERT(!link->near.is_open());
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::system_category(), "cannot make a pair of sockets");
  link->near.assign(tcp::v4(), ends[0]);
  Socket near(loop_, tcp::v4(), ends[1]);
  group_.spawn(send_all(link));
  group_.spawn(receive_all(link));
  return near;
}

/// The end of the caller's data closes both directions: no caller uses half-closed connections.
Task<> NodeLinks::send_all(LinkPointer link) {
  AGW_ASSERT(link->tls);
  std::string piece(piece_size, '\0');
  error_code error;
  for (;;) {
    const auto size =
        co_await link->near.async_read_some(asio::buffer(piece), asio::redirect_error(asio::use_awaitable, error));
    if (error || !co_await link->tls->write(std::string_view(piece).substr(0, size))) break;
  }
  co_await link->tls->end();
  link->outside.close(error);
}

Task<> NodeLinks::receive_all(LinkPointer link) {
  AGW_ASSERT(link->tls);
  std::string bytes;
  error_code error;
  while (!error && co_await link->tls->read(bytes))
    co_await asio::async_write(link->near, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
  link->near.shutdown(Socket::shutdown_both, error);
}

}  // namespace agw
