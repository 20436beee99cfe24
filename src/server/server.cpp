#include "server/server.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "features/access/types.hpp"
#include "io/files/splice.hpp"

namespace agw {

using namespace std::chrono_literals;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr int backlog = 4096;
constexpr auto retry_delay = 100ms;
constexpr auto warning_interval = 60s;

StartError cannot_listen(const std::string& host, int port, const error_code& error) {
  const auto remedy = error == asio::error::address_in_use ? "stop the program that uses it, or choose another --port"
                                                           : "choose another --host or --port";
  return StartError(ExitStatus::failure,
                    fmt::format("cannot listen on {}:{}: {}; {}", host, port, error.message(), remedy));
}

}  // namespace

Listener::Listener(Loop& loop, const std::string& host, int port) : host_(host), acceptor_(loop) {
  error_code error;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) throw StartError(ExitStatus::usage, fmt::format("--host {}: must be an IP address or localhost", host));
  const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(port));
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(backlog, error);
  if (error) throw cannot_listen(host, port, error);
  if (address.is_loopback()) send_without_pacing(acceptor_.native_handle());
  acceptor_.non_blocking(true, error);
  port_ = acceptor_.local_endpoint().port();
  AGW_ASSERT(port_ > 0);
}

std::string Listener::url(std::string_view scheme) const {
  const bool is_v6 = host_.find(':') != std::string::npos;
  return fmt::format("{}{}{}{}:{}", scheme, is_v6 ? "[" : "", host_, is_v6 ? "]" : "", port_);
}

Server::Server(Loop& loop, BlockingPool& blocking, Listener listener, const Hosts& hosts, const Router& router,
               const Authenticator& authenticator, Idempotency& idempotency, Hub& hub, Metrics& metrics,
               Subscription::ActiveRuns active_runs, Options options)
    : loop_(loop),
      listener_(std::move(listener)),
      gate_(hosts, router, authenticator, options.body_limit),
      flusher_(loop),
      poller_(loop),
      url_(listener_.url(hosts.scheme())),
      context_{loop,           gate_,
               idempotency,    hub,
               metrics,        flusher_,
               poller_,        std::move(active_runs),
               hosts,          listener_.url(""),
               options.tls,    blocking,
               options.others, options.runs_elsewhere},
      options_(options),
      sweep_timer_(loop),
      polling_(loop),
      group_(loop),
      listening_(hub, *this) {
  group_.on_failure(
      [](const std::exception_ptr& failure) { log::error("a connection failed: {}", message_of(failure)); });
}

Server::~Server() = default;

void Server::start() {
  AGW_ASSERT(connections_.empty());
  if (options_.tls) {
    for (const auto& warning : options_.tls->warnings()) log::warn("{}", warning);
  }
  polling_.spawn(poller_.run());
  group_.spawn(accept());
}

Task<> Server::accept() {
  auto next_warning = std::chrono::steady_clock::time_point::min();
  while (!stopping_) {
    error_code error;
    Descriptor socket(::accept4(listener_.acceptor().native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const int problem = socket ? 0 : errno;
    if (problem == EAGAIN) {
      co_await listener_.acceptor().async_wait(tcp::acceptor::wait_read,
                                               asio::redirect_error(asio::use_awaitable, error));
    } else if (problem == EMFILE || problem == ENFILE || problem == ENOMEM || problem == ENOBUFS) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= next_warning) {  // limits the rate of warnings in the log
        const bool is_memory = problem == ENOMEM || problem == ENOBUFS;
        log::warn("no {} for a further connection; {}", is_memory ? "memory" : "file descriptor",
                  is_memory ? "free some of this machine's" : "raise the limit (ulimit -n)");
        next_warning = now + warning_interval;
      }
      asio::steady_timer timer(loop_, retry_delay);
      co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
    } else if (socket && connections_.size() >= options_.connections) {
      group_.spawn(reject(std::move(socket)));
    } else if (socket) {
      group_.spawn(serve(connect(std::move(socket))));
    }
  }
}

/// Not part of `serve`, which begins at the loop's next turn: until then, many more clients could be accepted.
Server::Connected Server::connect(Descriptor socket) {
  const auto place = connections_.emplace(connections_.end(), context_, std::move(socket));
  AGW_ASSERT(connections_.size() <= options_.connections);
  sweep_later();
  return Connected(&*place, Removal{connections_, place});
}

Task<> Server::serve(Connected connection) {
  const auto connected = std::move(connection);
  co_await connected->run();
}

Task<> Server::reject(Descriptor socket) {
  if (options_.tls) co_return;  // sending the reason would require a handshake
  SocketStream stream(loop_, std::move(socket));
  std::string response;
  write_response(response, error_response(503, "too many connections"), {.close = true});
  co_await stream.send(response);
}

void Server::sweep_later() {
  if (sweeping_) return;
  sweeping_ = true;
  sweep_timer_.expires_after(1s);
  sweep_timer_.async_wait([this](error_code error) {
    AGW_ASSERT(sweeping_);
    sweeping_ = false;
    if (error) return;
    sweep();
    if (!connections_.empty()) sweep_later();
  });
}

void Server::sweep() {
  const auto now = std::chrono::steady_clock::now();
  for (auto& connection : connections_) connection.sweep(now);
}

/// Connections opened with the old token end with it.
void Server::deliver(const DomainEvent& event) {
  if (!event.record.as<TokenReplaced>()) return;
  for (auto& connection : connections_) connection.close_websocket();
}

Task<> Server::stop(std::chrono::milliseconds grace) {
  AGW_ASSERT(!stopping_);
  stopping_ = true;
  error_code ignored;
  listener_.acceptor().close(ignored);
  for (auto& connection : connections_) connection.shut_down();
  asio::steady_timer deadline(loop_, grace);
  deadline.async_wait([this](error_code error) {
    if (error) return;
    for (auto& connection : connections_) connection.abort();
    group_.cancel();
  });
  co_await group_.join();
  AGW_ASSERT(connections_.empty());
  polling_.cancel();
  co_await polling_.join();
  deadline.cancel();
  sweep_timer_.cancel();
}

}  // namespace agw
