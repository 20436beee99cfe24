#include "io/mail/mail_connection.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/task_group.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

/// An IMAP server that implements only the login and then echoes lines.
class LineServer {
public:
  explicit LineServer(Loop& loop) : acceptor_(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), group_(loop) {
    group_.spawn(accept());
  }

  std::string url(std::string_view host = "127.0.0.1") const {
    return fmt::format("imap://{}:{}", host, acceptor_.local_endpoint().port());
  }

  Task<> close() {
    group_.cancel();
    acceptor_.close();
    co_await group_.join();
  }

private:
  Task<> accept() {
    for (;;) group_.spawn(serve(co_await acceptor_.async_accept(asio::use_awaitable)));
  }

  static std::string answer_to(const std::string& line) {
    const auto tag = line.substr(0, line.find(' '));
    if (line.find("CAPABILITY") != line.npos) return "* CAPABILITY IMAP4rev1\r\n" + tag + " OK\r\n";
    if (line.find("LOGIN") == line.npos) return line + "\r\n";
    return tag + (line.find("secret") != line.npos ? " OK logged in\r\n" : " NO wrong\r\n");
  }

  Task<> serve(tcp::socket socket) {
    boost::system::error_code gone;
    std::string buffer = "* OK ready\r\n";
    co_await asio::async_write(socket, asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, gone));
    buffer.clear();
    while (!gone) {
      std::array<char, 1024> bytes{};
      const auto count =
          co_await socket.async_read_some(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, gone));
      buffer.append(bytes.data(), count);
      for (auto end = buffer.find("\r\n"); end != buffer.npos && !gone; end = buffer.find("\r\n")) {
        const auto answer = answer_to(buffer.substr(0, end));
        buffer.erase(0, end + 2);
        co_await asio::async_write(socket, asio::buffer(answer), asio::redirect_error(asio::use_awaitable, gone));
      }
    }
  }

  tcp::acceptor acceptor_;
  TaskGroup group_;
};

Task<std::string> problem_of(Task<> work) {
  try {
    co_await std::move(work);
  } catch (const MailError& error) {
    co_return fmt::format("{} {}", static_cast<int>(error.kind), error.what());
  }
  co_return "none";
}

TEST(MailConnection, LogsInAndPassesLinesOn) {
  testing::run([](Loop& loop) -> Task<> {
    LineServer server(loop);
    HttpClient http(loop);
    StopSource stop;
    {
      MailConnection connection(http);
      co_await connection.open({.url = server.url(), .user = "ann", .password = "secret"}, stop);
      co_await connection.write("one\r\ntwo and more\r\n", stop);
      EXPECT_EQ(co_await connection.read_line(stop), "one");
      EXPECT_EQ(co_await connection.read_bytes(4, stop), "two ");
      EXPECT_EQ(co_await connection.read_line_within(1min, stop), "and more");
      EXPECT_EQ(co_await connection.read_line_within(20ms, stop), std::nullopt);
    }
    co_await server.close();
  });
}

TEST(MailConnection, SaysThatThePasswordIsWrong) {
  testing::run([](Loop& loop) -> Task<> {
    LineServer server(loop);
    HttpClient http(loop);
    StopSource stop;
    MailConnection connection(http);
    EXPECT_EQ(co_await problem_of(connection.open({.url = server.url(), .user = "ann", .password = "wrong"}, stop)),
              "1 the server refuses this user and password");
    co_await server.close();
  });
}

TEST(MailConnection, SendsNoPasswordUnencryptedToAnotherMachine) {
  testing::run([](Loop& loop) -> Task<> {
    LineServer server(loop);
    HttpClient http(loop);
    StopSource stop;
    MailConnection connection(http);
    // 127.1 is an address of this machine, but only the resolver recognises it as one.
    const auto problem =
        co_await problem_of(connection.open({.url = server.url("127.1"), .user = "ann", .password = "secret"}, stop));
    EXPECT_EQ(problem, "0 the server offers no encryption (STARTTLS)");
    co_await server.close();
  });
}

TEST(MailConnection, ConnectsToPublicAddressesOnlyIfItMust) {
  testing::run([](Loop& loop) -> Task<> {
    LineServer server(loop);
    HttpClient http(loop);
    StopSource stop;
    MailConnection connection(http);
    const auto problem = co_await problem_of(connection.open(
        {.url = server.url(), .user = "ann", .password = "secret", .rule = {.public_only = true}}, stop));
    EXPECT_EQ(problem, "0 it has the address 127.0.0.1, which is not one of the public internet");
    co_await server.close();
  });
}

TEST(MailConnection, EndsAtOnceWhenItIsStopped) {
  testing::run([](Loop& loop) -> Task<> {
    LineServer server(loop);
    HttpClient http(loop);
    StopSource stop;
    MailConnection connection(http);
    co_await connection.open({.url = server.url(), .user = "ann", .password = "secret"}, stop);
    stop.request();
    const auto reads = [](MailConnection& from, StopSource& until) -> Task<> { co_await from.read_line(until); };
    EXPECT_EQ(co_await problem_of(reads(connection, stop)), "2 stopped");
    co_await server.close();
  });
}

}  // namespace
}  // namespace agw
