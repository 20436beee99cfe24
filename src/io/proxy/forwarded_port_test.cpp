#include "io/proxy/forwarded_port.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/task_group.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

const auto loopback = asio::ip::address_v4::loopback();

std::uint16_t free_port_of(Loop& loop) { return tcp::acceptor(loop, {loopback, 0}).local_endpoint().port(); }

Task<std::optional<tcp::socket>> connected_to(Loop& loop, std::uint16_t port) {
  tcp::socket socket(loop);
  error_code error;
  co_await socket.async_connect({loopback, port}, asio::redirect_error(asio::use_awaitable, error));
  co_return error ? std::nullopt : std::optional(std::move(socket));
}

/// Serves one connection by echoing its data.
Task<> echo_once(tcp::acceptor& acceptor) {
  auto socket = co_await acceptor.async_accept(asio::use_awaitable);
  std::string text;
  error_code error;
  co_await asio::async_read(socket, asio::dynamic_buffer(text), asio::redirect_error(asio::use_awaitable, error));
  co_await asio::async_write(socket, asio::buffer(text), asio::redirect_error(asio::use_awaitable, error));
}

/// The data received until the end, or `reset`.
Task<std::string> answer_of(tcp::socket& socket, std::string text) {
  error_code error;
  co_await asio::async_write(socket, asio::buffer(text), asio::redirect_error(asio::use_awaitable, error));
  socket.shutdown(tcp::socket::shutdown_send, error);
  std::string answer;
  co_await asio::async_read(socket, asio::dynamic_buffer(answer), asio::redirect_error(asio::use_awaitable, error));
  co_return error == asio::error::eof ? answer : "reset";
}

TEST(ForwardedPort, PassesOnConnections) {
  testing::run([](Loop& loop) -> Task<> {
    tcp::acceptor server(loop, {loopback, 0});
    TaskGroup group(loop);
    group.spawn(echo_once(server));
    const auto port = free_port_of(loop);
    ForwardedPort forwarded(loop, port, [&] { return connected_to(loop, server.local_endpoint().port()); });
    forwarded.open();
    auto client = co_await connected_to(loop, port);
    EXPECT_EQ(client ? co_await answer_of(*client, "hello") : "not connected", "hello");
    co_await group.join();
    co_await forwarded.close();
    EXPECT_FALSE(co_await connected_to(loop, port));
  });
}

TEST(ForwardedPort, RefusesConnectionsUntilItIsOpen) {
  testing::run([](Loop& loop) -> Task<> {
    const auto port = free_port_of(loop);
    const ForwardedPort forwarded(loop, port, [&] { return connected_to(loop, port); });
    EXPECT_FALSE(co_await connected_to(loop, port));
  });
}

TEST(ForwardedPort, ResetsUnacceptedConnections) {
  testing::run([](Loop& loop) -> Task<> {
    const auto port = free_port_of(loop);
    ForwardedPort forwarded(loop, port, []() -> Task<std::optional<tcp::socket>> { co_return std::nullopt; });
    forwarded.open();
    auto client = co_await connected_to(loop, port);
    // The reset may arrive during the connection attempt.
    if (client) EXPECT_EQ(co_await answer_of(*client, "hello"), "reset");
    co_await forwarded.close();
  });
}

TEST(ForwardedPort, EndsItsConnectionsWhenItIsClosed) {
  testing::run([](Loop& loop) -> Task<> {
    tcp::acceptor server(loop, {loopback, 0});
    const auto port = free_port_of(loop);
    ForwardedPort forwarded(loop, port, [&] { return connected_to(loop, server.local_endpoint().port()); });
    forwarded.open();
    auto client = co_await connected_to(loop, port);
    EXPECT_TRUE(client);
    if (!client) co_return;
    auto accepted = co_await server.async_accept(asio::use_awaitable);
    co_await forwarded.close();
    char byte = 0;
    error_code error;
    co_await asio::async_read(*client, asio::buffer(&byte, 1), asio::redirect_error(asio::use_awaitable, error));
    EXPECT_TRUE(error);
  });
}

TEST(ForwardedPort, CannotTakeAPortOnWhichAnotherListens) {
  testing::run([](Loop& loop) -> Task<> {
    const tcp::acceptor other(loop, {loopback, 0});
    EXPECT_THROW(ForwardedPort(loop, other.local_endpoint().port(), nullptr), boost::system::system_error);
    co_return;
  });
}

}  // namespace
}  // namespace agw
