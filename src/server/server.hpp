#pragma once

#include <list>
#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/async/task_group.hpp"
#include "io/files/descriptor.hpp"
#include "server/connection.hpp"
#include "server/http/read_poller.hpp"

namespace agw {

/// The listening socket. Opened before everything that depends on the port.
class Listener {
public:
  /// Throws StartError with the reason and the remedy if it cannot listen.
  Listener(Loop& loop, const std::string& host, int port);

  int port() const { return port_; }
  /// `http://127.0.0.1:7420`
  std::string url(std::string_view scheme) const;
  asio::ip::tcp::acceptor& acceptor() { return acceptor_; }

private:
  std::string host_;
  asio::ip::tcp::acceptor acceptor_;
  int port_ = 0;
};

/// Accepts connections and serves them from one table of routes.
/// Example: src/server/server_test.cpp: Server.DisconnectsClientsThatItsStopDoesNotWaitFor
class Server : private Subscriber {
public:
  struct Options {
    std::size_t connections = 16384;
    std::size_t body_limit = 10 * 1024 * 1024;
    const TlsContext* tls = nullptr;  ///< null: connections are not encrypted
    OtherNodes* others = nullptr;     ///< null: this gateway is not part of a cluster
    RunsElsewhere runs_elsewhere = {};
  };

  Server(Loop& loop, BlockingPool& blocking, Listener listener, const Hosts& hosts, const Router& router,
         const Authenticator& authenticator, Idempotency& idempotency, Hub& hub, Metrics& metrics,
         Subscription::ActiveRuns active_runs, Options options);
  ~Server() override;

  void start();

  /// Stops accepting, lets current requests finish and closes WebSockets with 1001. Aborts the remaining connections
  /// after `grace`.
  Task<> stop(std::chrono::milliseconds grace);

  std::size_t connections() const { return connections_.size(); }
  const std::string& url() const { return url_; }

private:
  using Connections = std::list<HttpConnection>;
  /// Removes a connection from the list when its coroutine ends, even if that never began.
  struct Removal {
    Connections& connections;
    Connections::iterator place;
    void operator()(HttpConnection*) const { connections.erase(place); }
  };
  using Connected = std::unique_ptr<HttpConnection, Removal>;

  void deliver(const DomainEvent& event) override;
  Task<> accept();
  Connected connect(Descriptor socket);
  Task<> serve(Connected connection);
  Task<> reject(Descriptor socket);
  void sweep_later();
  void sweep();

  Loop& loop_;
  Listener listener_;
  Gate gate_;
  WebSocketFlusher flusher_;
  ReadPoller poller_;
  std::string url_;
  ConnectionContext context_;
  Options options_;
  Connections connections_;
  asio::steady_timer sweep_timer_;
  bool sweeping_ = false;
  bool stopping_ = false;
  TaskGroup polling_;
  TaskGroup group_;
  Hub::Listening listening_;
};

}  // namespace agw
