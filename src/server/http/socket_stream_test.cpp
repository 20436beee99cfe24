#include "server/http/socket_stream.hpp"

#include <gtest/gtest.h>

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/task_group.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using asio::ip::tcp;

constexpr std::size_t more_than_the_kernel_buffers = 64 * 1024 * 1024;

/// The two ends of a connection, both non-blocking.
std::pair<tcp::socket, tcp::socket> connected(Loop& loop) {
  tcp::acceptor acceptor(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  tcp::socket client(loop);
  client.connect(acceptor.local_endpoint());
  auto server = acceptor.accept();
  client.non_blocking(true);
  server.non_blocking(true);
  return {std::move(client), std::move(server)};
}

Task<> send_large(tcp::socket& socket) {
  const std::string large(more_than_the_kernel_buffers, 'x');
  boost::system::error_code ended;
  co_await asio::async_write(socket, asio::buffer(large), asio::redirect_error(asio::use_awaitable, ended));
}

/// How many sent bytes the peer has not acknowledged.
int unacknowledged(tcp::socket& socket) {
  int bytes = 0;
  EXPECT_EQ(::ioctl(socket.native_handle(), SIOCOUTQ, &bytes), 0);
  return bytes;
}

TEST(SocketStream, AcknowledgesBytesBeforeItAnswersThem) {
  testing::run([](Loop& loop) -> Task<> {
    auto [client, server] = connected(loop);
    SocketStream stream(loop, Descriptor(server.release()));
    std::string received, answer(1, ' ');
    // The kernel delays acknowledgements once both sides have sent.
    for (int exchange = 0; exchange < 20; ++exchange) {
      client.write_some(asio::buffer("x", 1));
      EXPECT_TRUE(co_await stream.receive(received));
      stream.acknowledge();
      EXPECT_EQ(unacknowledged(client), 0);
      EXPECT_TRUE(co_await stream.send("y"));
      co_await asio::async_read(client, asio::buffer(answer), asio::use_awaitable);
    }
  });
}

TEST(SocketStream, ReportsThatAMoveWaitsForTheClient) {
  testing::run([](Loop& loop) -> Task<> {
    auto [app, source] = connected(loop);
    auto [client, server] = connected(loop);
    SocketStream stream(loop, Descriptor(server.release()));
    std::optional<std::uint64_t> moved;
    const auto move = [&]() -> Task<> { moved = co_await stream.move_from(source, more_than_the_kernel_buffers); };

    TaskGroup group(loop);
    group.spawn(move());
    co_await asio::post(loop, asio::use_awaitable);
    EXPECT_FALSE(stream.is_blocked_on_send());  // the app has sent nothing, so the client is not blocking
    group.spawn(send_large(app));
    while (!stream.is_blocked_on_send() && !moved) co_await asio::post(loop, asio::use_awaitable);
    EXPECT_FALSE(moved);

    stream.interrupt();
    while (!moved) co_await asio::post(loop, asio::use_awaitable);
    EXPECT_LT(*moved, more_than_the_kernel_buffers);
    EXPECT_FALSE(stream.is_blocked_on_send());
    group.cancel();
    co_await group.join();
  });
}

}  // namespace
}  // namespace agw
