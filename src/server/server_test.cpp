#include "server/server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <fstream>

#include <gtest/gtest.h>

namespace agw {
namespace {

using asio::ip::tcp;

/// The congestion control of a connection that a listener on `host` accepts.
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

}  // namespace
}  // namespace agw
