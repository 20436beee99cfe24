#include "io/proxy/relay.hpp"

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

#include <gtest/gtest.h>
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
using boost::system::error_code;

/// Two connected sockets.
struct Connected {
  explicit Connected(Loop& loop) : one(loop), other(loop) {
    tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
    one.connect(acceptor.local_endpoint());
    other = acceptor.accept();
  }
  tcp::socket one;
  tcp::socket other;
};

Task<> send(tcp::socket& socket, std::string text) {
  error_code error;
  co_await asio::async_write(socket, asio::buffer(text), asio::redirect_error(asio::use_awaitable, error));
}

Task<> send_all(tcp::socket& socket, std::string text) {
  error_code error;
  co_await send(socket, std::move(text));
  socket.shutdown(tcp::socket::shutdown_send, error);
}

Task<> run_relay(tcp::socket& from, tcp::socket& to, bool& result) { result = co_await relay(from, to); }

/// The data that arrives through two connections with a relay between them.
std::string relayed(std::string text) {
  std::string arrived;
  testing::run([&](Loop& loop) -> Task<> {
    Connected sender(loop);
    Connected receiver(loop);
    TaskGroup group(loop);
    bool ended_well = false;
    group.spawn(send_all(sender.one, text));
    group.spawn(run_relay(sender.other, receiver.one, ended_well));
    error_code error;
    co_await asio::async_read(receiver.other, asio::dynamic_buffer(arrived),
                              asio::redirect_error(asio::use_awaitable, error));
    EXPECT_EQ(error, asio::error::eof);
    co_await group.join();
    EXPECT_TRUE(ended_well);
  });
  return arrived;
}

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 2'654'435'761U) >> 13U);
  return text;
}

TEST(Relay, PassesEverythingOn) {
  EXPECT_EQ(relayed(""), "");
  EXPECT_EQ(relayed("hello"), "hello");
}

TEST(Relay, PassesOnWhatIsLargeEnoughForThePipe) {
  const auto large = pattern(std::size_t{50} * 1000 * 1000 + 17);
  EXPECT_TRUE(relayed(large) == large);
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

TEST(Relay, ReleasesThePipeOnceLittleArrives) {
  testing::run([](Loop& loop) -> Task<> {
    Connected sender(loop);
    Connected receiver(loop);
    TaskGroup group(loop);
    bool ended_well = false;
    const auto before = open_descriptors();
    group.spawn(run_relay(sender.other, receiver.one, ended_well));
    const auto large = pattern(std::size_t{20} * 1000 * 1000);
    std::string arrived(large.size(), '\0');
    group.spawn(send(sender.one, large));
    co_await asio::async_read(receiver.other, asio::buffer(arrived), asio::use_awaitable);
    EXPECT_TRUE(arrived == large);
    // Small pieces are forwarded immediately again.
    for (const std::string small : {"one", "two"}) {
      co_await asio::async_write(sender.one, asio::buffer(small), asio::use_awaitable);
      std::string passed(small.size(), '\0');
      co_await asio::async_read(receiver.other, asio::buffer(passed), asio::use_awaitable);
      EXPECT_EQ(passed, small);
    }
    while (open_descriptors() != before) co_await asio::post(loop, asio::use_awaitable);
    sender.one.shutdown(tcp::socket::shutdown_send);
    co_await group.join();
    EXPECT_TRUE(ended_well);
  });
}

TEST(Relay, EndsWithoutSuccessWhenAConnectionBreaks) {
  testing::run([&](Loop& loop) -> Task<> {
    Connected sender(loop);
    Connected receiver(loop);
    sender.one.set_option(tcp::socket::linger(true, 0));
    sender.one.close();
    EXPECT_FALSE(co_await relay(sender.other, receiver.one));
  });
}

TEST(Relay, EndsWhenItsSocketsAreClosed) {
  testing::run([&](Loop& loop) -> Task<> {
    Connected sender(loop);
    Connected receiver(loop);
    TaskGroup group(loop);
    bool ended_well = true;
    group.spawn(run_relay(sender.other, receiver.one, ended_well));
    co_await asio::async_write(sender.one, asio::buffer("x", 1), asio::use_awaitable);
    char byte = 0;
    co_await asio::async_read(receiver.other, asio::buffer(&byte, 1), asio::use_awaitable);
    sender.other.close();
    co_await group.join();
    EXPECT_FALSE(ended_well);
  });
}

}  // namespace
}  // namespace agw
