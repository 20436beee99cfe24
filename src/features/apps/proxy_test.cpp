#include "features/apps/proxy.hpp"

#include <gtest/gtest.h>

#include "api/request.hpp"
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

/// A client that asks for `/` and takes what it gets.
struct Client : Exchange {
  std::string_view method() const override { return "GET"; }
  std::string_view target() const override { return "/apps/a/proxy/"; }
  std::optional<std::uint64_t> body_length() const override { return 0; }
  Task<std::optional<std::string>> read() override { co_return std::string(); }
  Task<> gone() override { co_await pause(never, 1h); }
  Task<bool> begin(AnswerHead head) override {
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
  Stop& cut_off() override { return stop; }

  int status = 0;
  std::string body;
  bool ended = false;
  Stop stop;
  Stop never;
};

int port_of(const LoopbackServer& server) {
  const auto url = server.url("");
  return std::stoi(url.substr(url.rfind(':') + 1));
}

/// What came of asking an app that answers `answer`.
std::string asked(std::string answer, LoopbackServer::After after, Client& client) {
  std::string error;
  testing::run([&](Loop& loop) -> Task<> {
    LoopbackServer app(loop, {std::move(answer)}, after);
    const Nobody nobody;
    AppProxy proxy(loop, nobody, 100ms);
    Request request;
    try {
      co_await proxy.pass(request, client, port_of(app), "/apps/a/proxy");
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
  EXPECT_EQ(asked("HTTP/1.1 200 OK\r\nContent-", LoopbackServer::After::wait, client), "Dev server proxy failed");
  EXPECT_EQ(client.status, 0);
}

TEST(AppProxy, DoesNotEndAnAnswerThatWasCut) {
  Client client;
  EXPECT_EQ(asked("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", LoopbackServer::After::close, client), "");
  EXPECT_EQ(client.body, "hello");
  EXPECT_FALSE(client.ended);
}

}  // namespace
}  // namespace agw
