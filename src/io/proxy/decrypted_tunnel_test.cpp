#include "io/proxy/decrypted_tunnel.hpp"

#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <boost/algorithm/string/replace.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using asio::ip::tcp;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto host = "api.example.com";
constexpr auto get = "GET /user HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer STANDIN\r\n\r\n";

/// How a program and a host behave, and the data received by each.
struct Exchange {
  std::string sent = get;       ///< by the program; STANDIN is replaced by its stand-in
  std::size_t piece = 1 << 20;  ///< bytes sent at a time
  std::string named = host;     ///< in the program's handshake
  bool trusts_gateway = true;   ///< whether the program accepts the gateway's authority
  bool is_host_trusted = true;  ///< whether the gateway accepts the host's certificate
  std::string certificate_for = host;
  bool half_closes = true;  ///< whether the program closes its sending side after its data
  std::string response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  bool reads_all = true;  ///< whether the host reads all before it responds; otherwise it closes after that
  std::function<std::string(const std::string&)> find = [](const std::string&) { return "s3cret"; };

  std::string host_got{};
  std::string program_got{};
  std::string stand_in{};
  bool is_accepted = true;  ///< whether the program accepted the gateway's certificate
};

class DecryptedTunnelTest : public ::testing::Test {
protected:
  std::shared_ptr<CertificateAuthority> authority(const std::string& name) {
    return CertificateAuthority::load_or_create(scratch_.path() / (name + ".pem"), SystemClock().now());
  }

  std::shared_ptr<const TrustedRoots> roots_of(const std::string& name) {
    const auto file = scratch_.path() / (name + ".crt");
    std::ofstream(file) << authority(name)->certificate();
    return TrustedRoots::load(file);
  }

  static Task<std::pair<tcp::socket, tcp::socket>> connected(Loop& loop) {
    tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
    tcp::socket one(loop);
    co_await one.async_connect(acceptor.local_endpoint(), asio::use_awaitable);
    auto other = co_await acceptor.async_accept(asio::use_awaitable);
    co_return std::pair(std::move(one), std::move(other));
  }

  static Task<> read_all(TlsStream& stream, std::string& all) {
    std::string bytes;
    while (co_await stream.read(bytes)) all += bytes;
  }

  /// Reads all requests, then responds.
  static Task<> play_host(Loop& loop, tcp::socket& socket, std::shared_ptr<CertificateAuthority> shown,
                          Exchange& exchange) {
    TlsStream stream(loop, socket, shown->session_for(exchange.certificate_for, SystemClock().now()));
    if (!co_await stream.handshake(std::chrono::seconds(5))) co_return;
    if (exchange.reads_all)
      co_await read_all(stream, exchange.host_got);
    else
      co_await stream.read(exchange.host_got);
    co_await stream.write(exchange.response);
    if (!exchange.reads_all) socket.close();
    co_await stream.end();
  }

  static Task<> play_program(Loop& loop, tcp::socket& socket, const TrustedRoots& roots, Exchange& exchange) {
    TlsStream stream(loop, socket, roots.session_to(host));
    SSL_set_tlsext_host_name(stream.session().handle(), exchange.named.c_str());
    if (!co_await stream.handshake(std::chrono::seconds(5))) co_return;
    auto sent = boost::replace_all_copy(exchange.sent, "STANDIN", exchange.stand_in);
    for (std::string_view rest = sent; !rest.empty(); rest.remove_prefix(std::min(exchange.piece, rest.size())))
      co_await stream.write(rest.substr(0, exchange.piece));
    if (exchange.half_closes) co_await stream.end();
    co_await read_all(stream, exchange.program_got);
    co_await stream.end();
  }

  struct Sockets {
    tcp::socket inside;
    tcp::socket outside;
  };

  Exchange play(Exchange exchange) {
    testing::run([&](Loop& loop) -> Task<> {
      auto [program, inside] = co_await connected(loop);
      auto [outside, server] = co_await connected(loop);
      auto sockets = std::make_shared<Sockets>(std::move(inside), std::move(outside));
      BlockingPool blocking(loop);
      const auto secrets = co_await blocking.run([&] {
        return std::make_shared<const ProgramSecrets>(
            std::vector<DeclaredSecret>{{.variable = "TOKEN", .secret = "GH", .hosts = {*to_host_pattern(host)}}},
            TlsTrust{.authority = authority("gateway"), .roots = roots_of("internet")},
            [this](const std::string& name) { return find_(name); });
      });
      exchange.stand_in = secrets->stand_ins().at("TOKEN");
      find_ = exchange.find;
      const auto shown =
          co_await blocking.run([&] { return authority(exchange.is_host_trusted ? "internet" : "other"); });
      const auto trusted =
          co_await blocking.run([&] { return roots_of(exchange.trusts_gateway ? "gateway" : "other"); });
      TaskGroup group(loop);
      group.spawn(play_host(loop, server, shown, exchange));
      group.spawn(play_program(loop, program, *trusted, exchange));
      const DecryptedTunnel::Services services{
          .loop = loop, .blocking = blocking, .secrets = secrets, .connections = group};
      {
        const auto tunnel = std::make_shared<DecryptedTunnel>(services, HostPort{host, 443}, sockets->inside,
                                                              sockets->outside, std::string(), sockets);
        exchange.is_accepted = co_await tunnel->run();
      }
      sockets.reset();
      co_await group.join();
    });
    return exchange;
  }

  testing::ScratchDirectory scratch_;
  std::function<std::string(const std::string&)> find_ = [](const std::string&) { return "s3cret"; };
};

TEST_F(DecryptedTunnelTest, ReplacesAStandInByItsSecret) {
  const auto played = play({});
  EXPECT_EQ(played.host_got, "GET /user HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer s3cret\r\n\r\n");
  EXPECT_EQ(played.program_got, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

TEST_F(DecryptedTunnelTest, AHeadMayArriveByteByByte) {
  EXPECT_THAT(play({.piece = 1}).host_got, HasSubstr("Bearer s3cret\r\n"));
}

TEST_F(DecryptedTunnelTest, PipelinedRequestsAreAllFilled) {
  const auto played = play({.sent = std::string(get) + "\r\n" + get, .piece = 7});
  const std::string filled_get = "GET /user HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer s3cret\r\n\r\n";
  EXPECT_EQ(played.host_got, filled_get + filled_get);
}

TEST_F(DecryptedTunnelTest, BodiesArePassedOnAsTheyAre) {
  const std::string head = "POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 7\r\nX: ";
  const auto played = play({.sent = head + "STANDIN\r\n\r\nabcdefg" + get});
  EXPECT_THAT(played.host_got, StartsWith(head + "s3cret\r\n\r\nabcdefgGET /user"));
  EXPECT_THAT(played.host_got, HasSubstr("Bearer s3cret"));
}

TEST_F(DecryptedTunnelTest, AStandInInABodyStays) {
  const auto played = play(
      {.sent = "POST / HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n.\r\n0\r\n\r\n" +
               std::string("POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 40\r\n\r\n") + "STANDIN...."});
  EXPECT_THAT(played.host_got, HasSubstr("\r\n\r\n" + played.stand_in + "...."));
  EXPECT_THAT(played.host_got, Not(HasSubstr("s3cret")));
}

TEST_F(DecryptedTunnelTest, ChunksAreReframedWithoutExtensionsAndTrailers) {
  const std::string head = "POST / HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto played = play({.sent = head + "3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nX: STANDIN\r\n\r\n" + get});
  EXPECT_THAT(played.host_got, StartsWith(head + "d\r\nabc0123456789\r\n0\r\n\r\nGET /user"));
}

TEST_F(DecryptedTunnelTest, ALargeBodyIsPassedOn) {
  const std::string body(3'000'000, 'x');
  const auto head = "POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 3000000\r\n\r\n";
  const auto played = play({.sent = head + body, .response = "HTTP/1.1 200 OK\r\n\r\n" + body});
  EXPECT_EQ(played.host_got, head + body);
  EXPECT_THAT(played.program_got, EndsWith(body));
}

TEST_F(DecryptedTunnelTest, AHostThatHangsUpEndsTheProgramsConnection) {
  const auto head = "POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 9000000\r\n\r\n";
  const auto played = play({.sent = head + std::string(9'000'000, 'x'), .reads_all = false});
  EXPECT_TRUE(played.is_accepted);
}

TEST_F(DecryptedTunnelTest, ARequestForAnotherHostGetsNoSecret) {
  for (const auto* sent : {"GET / HTTP/1.1\r\nHost: evil.example.com\r\nX: STANDIN\r\n\r\n",
                           "GET https://evil.example/ HTTP/1.1\r\nHost: api.example.com\r\nX: STANDIN\r\n\r\n",
                           "TRACE / HTTP/1.1\r\nHost: api.example.com\r\nX: STANDIN\r\n\r\n"}) {
    const auto played = play({.sent = sent});
    EXPECT_EQ(played.host_got, boost::replace_all_copy(std::string(sent), "STANDIN", played.stand_in));
  }
}

TEST_F(DecryptedTunnelTest, AHandshakeThatNamesAnotherHostIsRefused) {
  const auto played = play({.named = "evil.example", .half_closes = false});
  EXPECT_THAT(played.program_got, StartsWith("HTTP/1.1 421 Misdirected Request\r\n"));
  EXPECT_THAT(played.program_got, HasSubstr("names evil.example"));
  EXPECT_THAT(played.host_got, IsEmpty());
}

TEST_F(DecryptedTunnelTest, NothingIsSentToAHostWithoutAValidCertificate) {
  for (auto exchange : {Exchange{.is_host_trusted = false, .half_closes = false},
                        Exchange{.certificate_for = "other.example.com", .half_closes = false}}) {
    const auto played = play(std::move(exchange));
    EXPECT_THAT(played.program_got, StartsWith("HTTP/1.1 502 Bad Gateway\r\n"));
    EXPECT_THAT(played.program_got,
                HasSubstr("nothing was sent to api.example.com:443: its certificate is not trusted"));
    EXPECT_THAT(played.host_got, IsEmpty());
  }
}

TEST_F(DecryptedTunnelTest, AProgramThatRefusesTheCertificateIsReported) {
  const auto played = play({.trusts_gateway = false});
  EXPECT_FALSE(played.is_accepted);
  EXPECT_THAT(played.host_got, IsEmpty());
}

TEST_F(DecryptedTunnelTest, AMissingSecretIsNamed) {
  const auto played = play({.half_closes = false, .find = [](const std::string& name) -> std::string {
                              throw std::runtime_error("there is no secret " + name);
                            }});
  EXPECT_THAT(played.program_got, HasSubstr("502 Bad Gateway"));
  EXPECT_THAT(played.program_got, HasSubstr("nothing was sent to api.example.com:443: there is no secret GH"));
  EXPECT_THAT(played.host_got, IsEmpty());
}

TEST_F(DecryptedTunnelTest, ASecretThatHasBecomeALineIsNotSent) {
  const auto played = play({.half_closes = false, .find = [](const std::string&) { return "a\r\nX-Admin: 1"; }});
  EXPECT_THAT(played.program_got, HasSubstr("the secret GH contains a line end"));
  EXPECT_THAT(played.program_got, Not(HasSubstr("X-Admin")));
  EXPECT_THAT(played.host_got, IsEmpty());
}

TEST_F(DecryptedTunnelTest, ARefusalComesAfterEarlierResponses) {
  const auto played =
      play({.sent = std::string(get) + "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", .half_closes = false});
  EXPECT_THAT(played.program_got,
              StartsWith("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 400 Bad Request\r\n"));
  EXPECT_THAT(played.program_got, EndsWith("malformed request: more than one Host\n"));
}

TEST_F(DecryptedTunnelTest, AmbiguousRequestsAreRefused) {
  const std::string start = "POST / HTTP/1.1\r\nHost: api.example.com\r\n";
  for (const auto& sent :
       {start + "X: a\nAuthorization: STANDIN\r\n\r\n", start + "X: a\r\n folded\r\n\r\n", start + "X: a\rY: b\r\n\r\n",
        start + "X : a\r\n\r\n", start + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        start + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", start + "Transfer-Encoding: xchunked\r\n\r\n",
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), std::string("GET /\r\n\r\n")}) {
    const auto played = play({.sent = sent, .half_closes = false});
    EXPECT_THAT(played.program_got, StartsWith("HTTP/1.1 ")) << sent;
    EXPECT_THAT(played.program_got, Not(HasSubstr("200 OK"))) << sent;
    EXPECT_THAT(played.host_got, IsEmpty()) << sent;
  }
}

TEST_F(DecryptedTunnelTest, AHeadOfAMebibyteIsRefused) {
  const auto played = play({.sent = "GET / HTTP/1.1\r\nX: " + std::string(1 << 20, 'x'), .half_closes = false});
  EXPECT_THAT(played.program_got, StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(played.host_got, IsEmpty());
}

TEST_F(DecryptedTunnelTest, AfterAnUpgradeNothingIsFilledIn) {
  const auto played = play({.sent = "GET /ws HTTP/1.1\r\nHost: api.example.com\r\nX: STANDIN\r\nConnection: "
                                    "Upgrade\r\nUpgrade: websocket\r\n\r\n" +
                                    std::string(get),
                            .response = "HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x02hi"});
  EXPECT_THAT(played.host_got, HasSubstr("X: s3cret\r\n"));
  EXPECT_THAT(played.host_got, EndsWith("Bearer " + played.stand_in + "\r\n\r\n"));
  EXPECT_THAT(played.program_got, EndsWith("\x81\x02hi"));
}

}  // namespace
}  // namespace agw
