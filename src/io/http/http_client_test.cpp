#include "io/http/http_client.hpp"

#include <stdexcept>

#include <gtest/gtest.h>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/task_group.hpp"
#include "testing/loopback_server.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using testing::LoopbackServer;
using End = HttpOutcome::End;

constexpr auto plain_response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Who: stub\r\n\r\nhello";

OnBody append_to(std::string& text) {
  return [&text](const HttpHead&, std::string_view bytes) {
    text += bytes;
    return BodyAction::more;
  };
}

TEST(HttpClient, SendsTheRequestAndPassesOnTheResponse) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {plain_response});
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    HttpRequest request{.method = "POST", .url = server.url("/v1/x"), .headers = {{"X-Key", "k"}}, .body = "payload"};
    const auto outcome = co_await client.send(request, append_to(body), stop);
    EXPECT_EQ(outcome.end, End::complete);
    EXPECT_EQ(outcome.head.status, 200);
    EXPECT_EQ(outcome.head.header("x-who"), "stub");
    EXPECT_EQ(body, "hello");
    EXPECT_TRUE(server.request(0).starts_with("POST /v1/x HTTP/1.1\r\n"));
    EXPECT_NE(server.request(0).find("\r\nX-Key: k\r\n"), std::string::npos);
    EXPECT_TRUE(server.request(0).ends_with("\r\n\r\npayload"));
    co_await server.close();
  });
}

TEST(HttpClient, SendsHeadersWithoutValues) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {plain_response});
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    const HttpRequest request{.url = server.url("/"), .headers = {{"X-Empty", ""}, {"X-Blank", " "}, {"X-Key", "k"}}};
    EXPECT_EQ((co_await client.send(request, append_to(body), stop)).end, End::complete);
    for (const auto* line : {"\r\nX-Empty:\r\n", "\r\nX-Blank:\r\n", "\r\nX-Key: k\r\n"}) {
      EXPECT_NE(server.request(0).find(line), std::string::npos) << line;
    }
    co_await server.close();
  });
}

TEST(HttpClient, ReusesAConnection) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {plain_response, plain_response});
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    for (int i = 0; i < 2; ++i) {
      const auto outcome = co_await client.send({.url = server.url("/")}, append_to(body), stop);
      EXPECT_EQ(outcome.end, End::complete);
    }
    EXPECT_EQ(body, "hellohello");
    EXPECT_EQ(server.connections(), 1);
    co_await server.close();
  });
}

TEST(HttpClient, SendsNoPostTwiceWhenAReusedConnectionEndsWithoutAnAnswer) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {plain_response, LoopbackServer::hang_up, plain_response});
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    const HttpRequest request{.method = "POST", .url = server.url("/pay"), .body = "once"};
    EXPECT_EQ((co_await client.send(request, append_to(body), stop)).end, End::complete);
    const auto outcome = co_await client.send(request, append_to(body), stop);
    EXPECT_EQ(outcome.end, End::broken);
    EXPECT_EQ(outcome.error, "the connection was closed without an answer");
    EXPECT_EQ(server.requests(), 2U);
    co_await server.close();
  });
}

TEST(HttpClient, StopClosesTheConnectionInTheMiddleOfAnAnswer) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nbegin"}, LoopbackServer::After::wait);
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    const auto stop_at_first_byte = [&](const HttpHead&, std::string_view bytes) {
      body += bytes;
      stop.request();
      return BodyAction::more;
    };
    const auto outcome = co_await client.send({.url = server.url("/")}, stop_at_first_byte, stop);
    EXPECT_EQ(outcome.end, End::stopped);
    EXPECT_EQ(body, "begin");
    co_await server.closed_by_client();
    co_await server.close();
  });
}

TEST(HttpClient, CancellingTheCoroutineClosesTheConnection) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nbegin"}, LoopbackServer::After::wait);
    HttpClient client(loop);
    StopSource stop;
    TaskGroup group(loop);
    const auto cancel_at_first_byte = [&](const HttpHead&, std::string_view) {
      group.cancel();
      return BodyAction::more;
    };
    group.spawn([](HttpClient& c, std::string url, OnBody on_body, StopSource& s) -> Task<> {
      co_await c.send({.url = url}, on_body, s);
    }(client, server.url("/"), cancel_at_first_byte, stop));
    co_await group.join();
    co_await server.closed_by_client();
    co_await server.close();
  });
}

TEST(HttpClient, SendsNothingOnceStopped) {
  testing::run([](Loop& loop) -> Task<> {
    HttpClient client(loop);
    StopSource stop;
    stop.request();
    const auto outcome = co_await client.send({.url = "http://127.0.0.1:1/"}, {}, stop);
    EXPECT_EQ(outcome.end, End::stopped);
  });
}

TEST(HttpClient, SilenceEndsAnExchange) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nbegin"}, LoopbackServer::After::wait);
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    const auto outcome = co_await client.send({.url = server.url("/"), .idle_timeout = 1s}, append_to(body), stop);
    EXPECT_EQ(outcome.end, End::silent);
    EXPECT_EQ(outcome.error, "nothing came for 1 s");
    EXPECT_EQ(body, "begin");
    co_await server.closed_by_client();
    co_await server.close();
  });
}

TEST(HttpClient, WhatWasSentDoesNotPutOffTheEndOfSilence) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nbegin"}, LoopbackServer::After::wait);
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    bool is_late = false;
    asio::steady_timer twice(loop, 3800ms);
    twice.async_wait([&](boost::system::error_code error) { is_late = !error; });
    HttpRequest request{.method = "POST", .url = server.url("/"), .body = "payload", .idle_timeout = 2000ms};
    const auto outcome = co_await client.send(request, append_to(body), stop);
    EXPECT_EQ(outcome.end, End::silent);
    EXPECT_FALSE(is_late);
    twice.cancel();
    co_await server.closed_by_client();
    co_await server.close();
  });
}

TEST(HttpClient, ReportsATruncatedResponse) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nbegin"}, LoopbackServer::After::close);
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    const auto outcome = co_await client.send({.url = server.url("/")}, append_to(body), stop);
    EXPECT_EQ(outcome.end, End::broken);
    EXPECT_EQ(outcome.error, "the connection broke in the middle of the answer");
    EXPECT_EQ(body, "begin");
    co_await server.close();
  });
}

TEST(HttpClient, ReportsAnUnreachableServer) {
  testing::run([](Loop& loop) -> Task<> {
    std::string url;
    {
      LoopbackServer gone(loop, {});
      url = gone.url("/");
      co_await gone.close();
    }
    HttpClient client(loop);
    StopSource stop;
    const auto outcome = co_await client.send({.url = url}, {}, stop);
    EXPECT_EQ(outcome.end, End::broken);
    EXPECT_EQ(outcome.head.status, 0);
    EXPECT_NE(outcome.error.find("connect"), std::string::npos) << outcome.error;
  });
}

TEST(HttpClient, LimitsTheAnswer) {
  testing::run([](Loop& loop) -> Task<> {
    const auto endless_head = "HTTP/1.1 200 OK\r\nX-Long: " + std::string(70'000, 'x') + "\r\n\r\n";
    LoopbackServer server(loop, {plain_response, endless_head});
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    const auto long_body = co_await client.send({.url = server.url("/"), .max_body_bytes = 4}, append_to(body), stop);
    EXPECT_EQ(long_body.end, End::too_large);
    EXPECT_EQ(long_body.error, "the answer is over 4 bytes");
    const auto long_head = co_await client.send({.url = server.url("/")}, append_to(body), stop);
    EXPECT_EQ(long_head.end, End::too_large);
    EXPECT_EQ(body, "");
    co_await server.close();
  });
}

std::string gzipped(std::string_view bytes) {
  return "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" +
         std::string(bytes);
}

TEST(HttpClient, DecodesUnsolicitedEncodings) {
  testing::run([](Loop& loop) -> Task<> {
    using namespace std::string_view_literals;
    constexpr auto hello =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcbH\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00"sv;
    LoopbackServer server(loop, {gzipped(hello), gzipped("no gzip")});
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    const auto outcome = co_await client.send({.url = server.url("/")}, append_to(body), stop);
    EXPECT_EQ(outcome.end, End::complete);
    EXPECT_EQ(body, "hello");
    EXPECT_EQ(server.request(0).find("ncoding"), std::string::npos) << server.request(0);
    const auto broken = co_await client.send({.url = server.url("/")}, append_to(body), stop);
    EXPECT_EQ(broken.end, End::broken);
    EXPECT_NE(broken.error, "");
    co_await server.close();
  });
}

/// 100,000 bytes.
std::string compressed_zeros() {
  using namespace std::string_view_literals;
  return std::string(
             "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x31\x01\x00\x00\x00\xc2\xa0\xf5Om\x0d\x0f\xa0"sv) +
         std::string(96, '\x00') + std::string("\x80W\x03}\x95\x11\xd4\xa0\x86\x01\x00"sv);
}

TEST(HttpClient, CountsTheBytesThatAreDecoded) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {gzipped(compressed_zeros()), gzipped(compressed_zeros())});
    HttpClient client(loop);
    StopSource stop;
    std::string body;
    const auto whole = co_await client.send({.url = server.url("/")}, append_to(body), stop);
    EXPECT_EQ(whole.end, End::complete);
    EXPECT_EQ(body, std::string(100'000, '\0'));
    body.clear();
    const auto large = co_await client.send({.url = server.url("/"), .max_body_bytes = 50'000}, append_to(body), stop);
    EXPECT_EQ(large.end, End::too_large);
    EXPECT_LE(body.size(), 50'000u);
    co_await server.close();
  });
}

/// DEFLATE bits (RFC 1951) with fixed codes for a zero and `repetitions` times 258 more.
std::string deflated_zeros(std::size_t repetitions) {
  std::string bits =
      "110"
      "00110000";
  for (std::size_t i = 0; i < repetitions; ++i)
    bits +=
        "11000101"
        "00000";
  bits += "0000000";
  std::string bytes((bits.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i] == '1') bytes[i / 8] = static_cast<char>(bytes[i / 8] | (1 << (i % 8)));
  }
  return "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: " + std::to_string(bytes.size()) +
         "\r\n\r\n" + bytes;
}

TEST(HttpClient, PassesOnDecodedBytesInPieces) {
  testing::run([](Loop& loop) -> Task<> {
    constexpr std::size_t repetitions = 16 * 1024;
    LoopbackServer server(loop, {deflated_zeros(repetitions), deflated_zeros(repetitions)});
    HttpClient client(loop);
    StopSource stop;
    std::size_t size = 0;
    std::size_t pieces = 0;
    std::size_t turns_of_others = 0;
    const auto count = [&](const HttpHead&, std::string_view bytes) {
      EXPECT_LE(bytes.size(), 16384u);
      EXPECT_EQ(turns_of_others, pieces++) << "others have their turn between two pieces";
      asio::post(loop, [&] { ++turns_of_others; });
      size += bytes.size();
      return BodyAction::more;
    };
    const auto outcome = co_await client.send({.url = server.url("/")}, count, stop);
    EXPECT_EQ(outcome.end, End::complete);
    EXPECT_EQ(size, 1 + repetitions * 258);
    std::string body;
    const auto enough = [&](const HttpHead&, std::string_view bytes) {
      body += bytes;
      return BodyAction::enough;
    };
    EXPECT_EQ((co_await client.send({.url = server.url("/")}, enough, stop)).end, End::complete);
    EXPECT_EQ(body, std::string(16384, '\0'));
    co_await server.close();
  });
}

TEST(HttpClient, DoesNotFollowRedirects) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"});
    HttpClient client(loop);
    StopSource stop;
    const auto outcome = co_await client.send({.url = server.url("/")}, {}, stop);
    EXPECT_EQ(outcome.head.status, 302);
    co_await server.close();
  });
}

TEST(HttpClient, SpeaksNothingButHttp) {
  testing::run([](Loop& loop) -> Task<> {
    HttpClient client(loop);
    StopSource stop;
    const auto outcome = co_await client.send({.url = "file:///etc/passwd"}, {}, stop);
    EXPECT_EQ(outcome.end, End::broken);
    const auto smuggled =
        co_await client.send({.url = "http://127.0.0.1:1/", .headers = {{"X-Key", "a\r\nX-Evil: b"}}}, {}, stop);
    EXPECT_EQ(smuggled.error, "a request header holds a line break");
  });
}

TEST(HttpClient, SendThrowsTheExceptionsOfTheReader) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {plain_response});
    HttpClient client(loop);
    StopSource stop;
    const auto fail = [](const HttpHead&, std::string_view) -> BodyAction { throw std::runtime_error("full"); };
    std::string caught;
    try {
      co_await client.send({.url = server.url("/")}, fail, stop);
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    EXPECT_EQ(caught, "full");
    co_await server.close();
  });
}

TEST(HttpClient, DoesNotWaitForTheEndOfAnAnswerThatIsComplete) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nall"}, LoopbackServer::After::wait);
    HttpClient client(loop);
    StopSource stop;
    const auto enough = [](const HttpHead&, std::string_view) { return BodyAction::enough; };
    const auto outcome = co_await client.send({.url = server.url("/")}, enough, stop);
    EXPECT_EQ(outcome.end, End::complete);
    co_await server.closed_by_client();
    co_await server.close();
  });
}

}  // namespace
}  // namespace agw
