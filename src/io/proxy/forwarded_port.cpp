#include "io/proxy/forwarded_port.hpp"

#include <chrono>
#include <utility>

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "io/proxy/relay.hpp"

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

/// Further connections wait in the kernel's queue.
constexpr std::size_t max_pairs = 512;
constexpr auto forward_retry_delay = 100ms;

/// Closes with a reset, which shows the other side that the connection was not served.
void reset(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(tcp::socket::linger(true, 0), ignored);
  socket.close(ignored);
}

}  // namespace

/// A client's connection and its counterpart to the server.
struct ForwardedPort::Pair {
  Pair(ForwardedPort& port, tcp::socket from) : client(std::move(from)), server(port.loop_), owner(port) {
    ++owner.pairs_;
  }
  ~Pair() {
    AGW_ASSERT(owner.pairs_ > 0);
    --owner.pairs_;
    owner.pair_ended_.pulse();
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  tcp::socket client;
  tcp::socket server;
  ForwardedPort& owner;
};

ForwardedPort::ForwardedPort(Loop& loop, std::uint16_t port, Connect connect)
    : loop_(loop), connect_(std::move(connect)), pair_ended_(loop), connections_(loop) {
  connections_.on_failure([](const std::exception_ptr& failure) {
    log::error("a connection to a sandbox failed: {}", message_of(failure));
  });
  AGW_DEBUG_ASSERT(port > 0);
  reserve({asio::ip::address_v4::loopback(), port});
  reserve({asio::ip::address_v6::loopback(), port});
  AGW_ASSERT(!acceptors_.empty());
}

ForwardedPort::~ForwardedPort() = default;

/// Skips IPv6 on a host without it.
void ForwardedPort::reserve(const tcp::endpoint& endpoint) {
  tcp::acceptor acceptor(loop_);
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.protocol() == tcp::v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptors_.push_back(std::move(acceptor));
  if (error && (error == asio::error::address_in_use || endpoint.protocol() == tcp::v4()))
    throw boost::system::system_error(error);
}

void ForwardedPort::open() {
  AGW_ASSERT(connect_);
  AGW_ASSERT(connections_.size() == 0);
  AGW_ASSERT(!connections_.closing());
  for (auto& acceptor : acceptors_) acceptor.listen();
  for (auto& acceptor : acceptors_) connections_.spawn(accept_all(acceptor));
}

Task<> ForwardedPort::close() {
  error_code ignored;
  for (auto& acceptor : acceptors_) acceptor.close(ignored);
  connections_.cancel();
  co_await connections_.join();
  AGW_ASSERT(pairs_ == 0);
}

Task<> ForwardedPort::accept_all(tcp::acceptor& acceptor) {
  for (;;) {
    while (pairs_ >= max_pairs) co_await pair_ended_.wait();
    tcp::socket socket(loop_);
    error_code error;
    co_await acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    StopSource never;
    if (error) co_await pause(never, forward_retry_delay);
    if (!error) connections_.spawn(serve(std::make_shared<Pair>(*this, std::move(socket))));
  }
}

Task<> ForwardedPort::serve(PairPointer pair) {
  auto server = co_await connect_();
  if (!server) co_return reset(pair->client);
  pair->server = *std::move(server);
  connections_.spawn(pump(pair, false));
  co_await pump(pair, true);
}

Task<> ForwardedPort::pump(PairPointer pair, bool inward) {
  auto& from = inward ? pair->client : pair->server;
  auto& to = inward ? pair->server : pair->client;
  if (co_await relay(from, to)) co_return;
  reset(pair->client);
  reset(pair->server);
}

}  // namespace agw
