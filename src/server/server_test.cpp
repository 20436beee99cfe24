#include "server/server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <fstream>

#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "storage/database.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

/// The congestion control of a connection accepted by a listener on `host`.
std::string accepted_congestion_control(const std::string& host) {
  Loop loop;
  Listener listener(loop, host, 0);
  tcp::socket client(loop);
  client.connect({asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(listener.port())});
  auto accepted = listener.acceptor().accept();
  std::array<char, 16> name{};
  socklen_t size = name.size();
  EXPECT_EQ(::getsockopt(accepted.native_handle(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &size), 0);
  return name.data();
}

TEST(Listener, SendsWithoutPacingOnThisMachineOnly) {
  std::string system;
  std::ifstream("/proc/sys/net/ipv4/tcp_congestion_control") >> system;
  EXPECT_EQ(accepted_congestion_control("127.0.0.1"), "reno");
  EXPECT_EQ(accepted_congestion_control("0.0.0.0"), system);
}

struct NoToken : Authenticator {
  bool accepts(std::string_view) const override { return false; }
  bool configured() const override { return false; }
};

/// A route that never responds.
struct Patience {
  Task<Response> wait(Request&) {
    called = true;
    co_await asio::steady_timer(loop, asio::steady_timer::time_point::max()).async_wait(asio::use_awaitable);
    co_return Response{};
  }

  Loop& loop;
  bool called = false;
};

/// A server with one route, `GET /wait`.
struct ServerFixture {
  explicit ServerFixture(Loop& on_loop, Server::Options limits = {}) : loop(on_loop), options(limits) {
    database.start_connection();
    server.start();
  }

  Loop& loop;
  Server::Options options;
  testing::ScratchDirectory directory;
  Database database{loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"}};
  SystemClock clock;
  Hub hub;
  Metrics metrics;
  NoToken authenticator;
  Idempotency idempotency{loop, database, clock};
  Patience patience{loop};
  Router router{{get("/wait", "Wait", &Patience::wait, patience).needs_no_token()}};
  Listener listener{loop, "127.0.0.1", 0};
  Hosts hosts{{.port = listener.port()}};
  tcp::endpoint address = listener.acceptor().local_endpoint();
  BlockingPool blocking{loop};
  Server server{loop, blocking, std::move(listener),           hosts,  router, authenticator, idempotency,
                hub,  metrics,  [](auto*) { return nullptr; }, options};
};

/// The server cannot know whether the work took effect, so any response could be wrong.
TEST(Server, DisconnectsClientsThatItsStopDoesNotWaitFor) {
  testing::run([](Loop& loop) -> Task<> {
    ServerFixture fixture(loop);
    tcp::socket client(loop);
    co_await client.async_connect(fixture.address, asio::use_awaitable);
    const std::string request = "GET /wait HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    co_await asio::async_write(client, asio::buffer(request), asio::use_awaitable);
    while (!fixture.patience.called) co_await asio::post(loop, asio::use_awaitable);
    co_await fixture.server.stop(1ms);
    std::string response;
    boost::system::error_code end;
    co_await asio::async_read(client, asio::dynamic_buffer(response), asio::redirect_error(asio::use_awaitable, end));
    EXPECT_EQ(end, asio::error::eof);
    EXPECT_EQ(response, "");
  });
}

TEST(Server, RefusesConnectionsAboveItsLimitEvenIfTheyComeAtOnce) {
  testing::run([](Loop& loop) -> Task<> {
    ServerFixture fixture(loop, {.connections = 1});
    tcp::socket first(loop);
    tcp::socket second(loop);
    first.connect(fixture.address);
    second.connect(fixture.address);
    std::string response;
    boost::system::error_code end;
    co_await asio::async_read(second, asio::dynamic_buffer(response), asio::redirect_error(asio::use_awaitable, end));
    EXPECT_TRUE(response.starts_with("HTTP/1.1 503 ")) << response;
    EXPECT_EQ(fixture.server.connections(), 1u);
    first.close();
    co_await fixture.server.stop(1s);
  });
}

}  // namespace
}  // namespace agw
