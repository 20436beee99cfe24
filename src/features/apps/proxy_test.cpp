#include "features/apps/proxy.hpp"

#include <gtest/gtest.h>

#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "api/request.hpp"
#include "base/async/task_group.hpp"
#include "testing/loopback_server.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using testing::LoopbackServer;

struct Nobody : Authenticator {
  bool accepts(std::string_view) const override { return false; }
  bool configured() const override { return true; }
};

/// A client that requests `/` and records the response.
struct Client : ProxyStream {
  std::string_view method() const override { return asks; }
  std::string_view target() const override { return "/apps/a/proxy/"; }
  std::optional<std::uint64_t> body_length() const override { return 0; }
  Task<std::optional<std::string>> read() override { co_return std::string(); }
  Task<> wait_for_disconnect() override { co_await pause(never, 1h); }
  Task<bool> begin(ResponseHead head) override {
    status = head.status;
    co_return true;
  }
  Task<bool> send(std::string_view piece) override {
    body += piece;
    co_return true;
  }
  Task<std::uint64_t> move_from(asio::ip::tcp::socket&, std::uint64_t) override { co_return 0; }
  Task<bool> end() override {
    ended = true;
    co_return true;
  }
  Task<bool> upgrade(Fields) override { co_return false; }
  StopSource& stop_source() override { return stop; }

  std::string asks = "GET";
  int status = 0;
  std::string body;
  bool ended = false;
  StopSource stop;
  StopSource never;
};

int port_of(const LoopbackServer& server) {
  const auto url = server.url("");
  return std::stoi(url.substr(url.rfind(':') + 1));
}

/// The outcome of a request to an app that responds with `response`.
std::string asked(std::string response, LoopbackServer::After after, Client& client,
                  std::chrono::milliseconds patience = 1min) {
  std::string error;
  testing::run([&](Loop& loop) -> Task<> {
    LoopbackServer app(loop, {std::move(response)}, after);
    const Nobody nobody;
    IdleConnections idle(loop);
    AppProxy proxy(loop, nobody, idle, {.with_response = patience});
    Request request;
    try {
      co_await proxy.forward(request, client, {.port = port_of(app)}, "/apps/a/proxy");
    } catch (const ApiError& refusal) {
      error = refusal.error();
    }
    co_await app.close();
  });
  return error;
}

TEST(AppProxy, PassesAnAnswerOn) {
  Client client;
  EXPECT_EQ(asked("HTTP/1.1 203 Odd\r\nContent-Length: 5\r\n\r\nhello", LoopbackServer::After::wait, client), "");
  EXPECT_EQ(client.status, 203);
  EXPECT_EQ(client.body, "hello");
  EXPECT_TRUE(client.ended);
}

TEST(AppProxy, GivesUpOnAnAppThatBeginsNoAnswer) {
  Client client;
  EXPECT_EQ(asked("HTTP/1.1 200 OK\r\nContent-", LoopbackServer::After::wait, client, 100ms),
            "Dev server proxy failed");
  EXPECT_EQ(client.status, 0);
}

TEST(AppProxy, DoesNotEndAnAnswerThatWasCut) {
  Client client;
  EXPECT_EQ(asked("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", LoopbackServer::After::close, client), "");
  EXPECT_EQ(client.body, "hello");
  EXPECT_FALSE(client.ended);
}

/// A client that never stops sending.
struct TalkativeClient : Client {
  Task<std::optional<std::string>> read() override { co_return std::string(1'000'000, 'x'); }
  Task<bool> upgrade(Fields) override { co_return true; }
};

TEST(AppProxy, EndsAConnectionToAnAppThatAcceptsAndNeverReads) {
  testing::run([](Loop& loop) -> Task<> {
    using asio::ip::tcp;
    tcp::acceptor app(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    const Nobody nobody;
    IdleConnections idle(loop);
    AppProxy proxy(loop, nobody, idle, {.with_reading = 100ms});
    TalkativeClient client;
    co_await proxy.connect(client, {.port = app.local_endpoint().port()});
    EXPECT_FALSE(client.stop.requested()) << "it ends by itself";
  });
}

/// Sends twelve pieces within three seconds without reading.
Task<> send_only(asio::ip::tcp::acceptor& app) {
  auto client = co_await app.async_accept(asio::use_awaitable);
  StopSource never;
  for (int i = 0; i < 12; ++i) {
    co_await asio::async_write(client, asio::buffer("piece", 5), asio::use_awaitable);
    co_await pause(never, 250ms);
  }
}

TEST(AppProxy, SupportsAnAppThatSendsAndDoesNotRead) {
  testing::run([](Loop& loop) -> Task<> {
    using asio::ip::tcp;
    tcp::acceptor app(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    TaskGroup serving(loop);
    serving.spawn(send_only(app));
    const Nobody nobody;
    IdleConnections idle(loop);
    AppProxy proxy(loop, nobody, idle, {.with_reading = 2s});
    TalkativeClient client;
    co_await proxy.connect(client, {.port = app.local_endpoint().port()});
    EXPECT_EQ(client.body.size(), 12 * 5U);
    co_await serving.join();
  });
}

/// The outcome of two consecutive requests to an app that sends given responses: the error, if any, and the number of
/// connections that the app saw.
struct AskedTwice {
  std::string error;
  int connections = 0;
  std::size_t requests = 0;
  std::string body;
};

AskedTwice asked_twice(std::string method, std::vector<std::string> responds, LoopbackServer::After after) {
  AskedTwice outcome;
  testing::run([&](Loop& loop) -> Task<> {
    LoopbackServer app(loop, std::move(responds), after);
    const Nobody nobody;
    IdleConnections idle(loop);
    AppProxy proxy(loop, nobody, idle, {});
    Request request;
    for (int i = 0; i < 2; ++i) {
      Client client;
      client.asks = method;
      try {
        co_await proxy.forward(request, client, {.port = port_of(app)}, "/apps/a/proxy");
      } catch (const ApiError& refusal) {
        outcome.error = refusal.error();
      }
      outcome.body += client.body;
    }
    idle.close();
    outcome.connections = app.connections();
    outcome.requests = app.requests();
    co_await app.close();
  });
  return outcome;
}

const std::string short_answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";

TEST(AppProxy, ReusesAConnection) {
  const auto outcome =
      asked_twice("GET", {short_answer + "1", short_answer + "2"}, LoopbackServer::After::next_request);
  EXPECT_EQ(outcome.body, "12");
  EXPECT_EQ(outcome.connections, 1);
}

TEST(AppProxy, KeepsNoConnectionThatTheAppWantsToEnd) {
  const std::string last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n";
  const auto outcome = asked_twice("GET", {last + "1", last + "2"}, LoopbackServer::After::next_request);
  EXPECT_EQ(outcome.body, "12");
  EXPECT_EQ(outcome.connections, 2);
}

TEST(AppProxy, KeepsNoConnectionWithUnsolicitedBytes) {
  const auto outcome = asked_twice("GET", {short_answer + "1HTTP/1.1 500 Forged\r\n", short_answer + "2"},
                                   LoopbackServer::After::next_request);
  EXPECT_EQ(outcome.body, "12");
  EXPECT_EQ(outcome.connections, 2);
}

TEST(AppProxy, PostsOnlyOnAConnectionOfItsOwn) {
  const auto outcome =
      asked_twice("POST", {short_answer + "1", short_answer + "2"}, LoopbackServer::After::next_request);
  EXPECT_EQ(outcome.body, "12");
  EXPECT_EQ(outcome.connections, 2);
}

TEST(AppProxy, RetriesOnceIfAnIdleConnectionHasEnded) {
  // The app closes the connection without a response to the second request, which is then sent again on a new one.
  const auto outcome = asked_twice("GET", {short_answer + "1", LoopbackServer::hang_up, short_answer + "2"},
                                   LoopbackServer::After::next_request);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.body, "12");
  EXPECT_EQ(outcome.requests, 3U);
  EXPECT_EQ(outcome.connections, 2);
}

TEST(AppProxy, DoesNotRetryOnANewConnection) {
  const auto outcome = asked_twice("GET", {LoopbackServer::hang_up, LoopbackServer::hang_up, short_answer + "1"},
                                   LoopbackServer::After::next_request);
  EXPECT_EQ(outcome.error, "Dev server proxy failed");
  EXPECT_EQ(outcome.requests, 2U);
}

/// Two apps of another node, which may have the same port there.
TEST(AppProxy, AsksEachAppElsewhereOnItsOwnConnections) {
  std::string heard;
  testing::run([&](Loop& loop) -> Task<> {
    LoopbackServer one(loop, {short_answer + "1", short_answer + "2"});
    LoopbackServer two(loop, {short_answer + "a", short_answer + "b"});
    const Nobody nobody;
    IdleConnections idle(loop);
    AppProxy proxy(loop, nobody, idle, {});
    Request request;
    const auto ask = [&](const LoopbackServer& app, int key) -> Task<> {
      Client client;
      const auto through = [port = port_of(app)] { return connect_to({.port = port}); };
      co_await proxy.forward(request, client, {.port = 5000, .through = through, .key_elsewhere = key},
                             "/apps/a/proxy");
      heard += client.body;
    };
    co_await ask(one, -1);
    co_await ask(two, -2);
    co_await ask(one, -1);
    co_await ask(two, -2);
    idle.close();
    EXPECT_EQ(one.connections(), 1);
    EXPECT_EQ(two.connections(), 1);
    co_await one.close();
    co_await two.close();
  });
  EXPECT_EQ(heard, "1a2b");
}

}  // namespace
}  // namespace agw
