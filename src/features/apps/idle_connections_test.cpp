#include "features/apps/idle_connections.hpp"

#include <gtest/gtest.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

/// Makes connections to one port, and keeps both ends.
struct Pairs {
  explicit Pairs(Loop& loop) : acceptor(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), loop(loop) {}
  int port() const { return acceptor.local_endpoint().port(); }
  tcp::socket connect() {
    tcp::socket client(loop);
    client.connect(acceptor.local_endpoint());
    servers.push_back(acceptor.accept());
    return client;
  }
  tcp::acceptor acceptor;
  Loop& loop;
  std::vector<tcp::socket> servers;
};

/// Waits until the peer has closed the connection; fails the test if it sends anything.
Task<> closed(tcp::socket& socket) {
  char byte = 0;
  boost::system::error_code error;
  co_await socket.async_read_some(asio::buffer(&byte, 1), asio::redirect_error(asio::use_awaitable, error));
  EXPECT_EQ(error, asio::error::eof);
}

TEST(IdleConnections, ReturnTheConnectionKeptForThatPort) {
  testing::run([](Loop& loop) -> Task<> {
    Pairs pairs(loop);
    IdleConnections idle(loop);
    idle.add(pairs.port(), pairs.connect());
    EXPECT_FALSE(idle.take(pairs.port() ^ 1));
    EXPECT_TRUE(idle.take(pairs.port()));
    EXPECT_FALSE(idle.take(pairs.port()));
    co_return;
  });
}

TEST(IdleConnections, ReturnNoneThatTheServerEnded) {
  testing::run([](Loop& loop) -> Task<> {
    Pairs pairs(loop);
    IdleConnections idle(loop);
    auto socket = pairs.connect();
    pairs.servers.clear();
    co_await socket.async_wait(tcp::socket::wait_read, asio::use_awaitable);
    idle.add(pairs.port(), std::move(socket));
    EXPECT_FALSE(idle.take(pairs.port()));
    EXPECT_EQ(idle.size(), 0U);
    idle.close();
  });
}

TEST(IdleConnections, ReturnNoneWithUnsolicitedBytes) {
  testing::run([](Loop& loop) -> Task<> {
    Pairs pairs(loop);
    IdleConnections idle(loop);
    auto socket = pairs.connect();
    co_await asio::async_write(pairs.servers.front(), asio::buffer("x", 1), asio::use_awaitable);
    co_await socket.async_wait(tcp::socket::wait_read, asio::use_awaitable);
    idle.add(pairs.port(), std::move(socket));
    EXPECT_FALSE(idle.take(pairs.port()));
    idle.close();
  });
}

TEST(IdleConnections, AreFewForOnePort) {
  testing::run([](Loop& loop) -> Task<> {
    Pairs pairs(loop);
    IdleConnections idle(loop);
    for (std::size_t i = 0; i <= IdleConnections::max_per_port; ++i) idle.add(pairs.port(), pairs.connect());
    EXPECT_EQ(idle.size(), IdleConnections::max_per_port);
    co_await closed(pairs.servers.front());
    idle.close();
  });
}

TEST(IdleConnections, EndAfterATimeout) {
  testing::run([](Loop& loop) -> Task<> {
    Pairs pairs(loop);
    IdleConnections idle(loop, 1ms);
    idle.add(pairs.port(), pairs.connect());
    co_await closed(pairs.servers.front());
    EXPECT_EQ(idle.size(), 0U);
  });
}

TEST(IdleConnections, EndWithTheServerAndWithTheGateway) {
  testing::run([](Loop& loop) -> Task<> {
    Pairs pairs(loop);
    IdleConnections idle(loop, 1h);
    idle.add(pairs.port(), pairs.connect());
    idle.close_port(pairs.port());
    co_await closed(pairs.servers.front());
    idle.close();
    idle.add(pairs.port(), pairs.connect());
    EXPECT_EQ(idle.size(), 0U);
    co_await closed(pairs.servers.back());
  });
}

}  // namespace
}  // namespace agw
