#include "io/http/head.hpp"

#include <gtest/gtest.h>

#include "io/http/request_parser.hpp"

namespace agw {
namespace {

/// The status of a rejected head, 0 if it is accepted.
int refused(std::string_view raw) {
  RequestParser parser;
  parser.put(raw);
  return parser.refusal() ? parser.refusal()->status : 0;
}

std::string with(std::string_view fields) {
  return "GET /health HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) + "\r\n";
}

TEST(Framing, TakesOrdinaryRequests) {
  EXPECT_EQ(refused(with("")), 0);
  EXPECT_EQ(refused(with("Content-Length: 3\r\n")), 0);
  EXPECT_EQ(refused(with("Transfer-Encoding: chunked\r\n")), 0);
  EXPECT_EQ(refused("GET / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_EQ(refused("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(refused("GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n"), 0);
}

TEST(Framing, RefusesWhatTwoServersCouldReadInTwoWays) {
  for (const auto* fields :
       {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 3,3\r\n",
        "Content-Length: 3\r\nContent-Length: 3\r\n", "Content-Length: -1\r\n", "Content-Length: +3\r\n",
        "Content-Length: 3 3\r\n", "Content-Length: 0x3\r\n", "Content-Length: 99999999999999999999999\r\n",
        "Content-Length: \r\n", "Transfer-Encoding: chunked, chunked\r\n", "Transfer-Encoding: \r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Host: other\r\n", "X-Folded: a\r\n b\r\n",
        "Bad Name: x\r\n", "X : y\r\n", "X: a\x01 b\r\n"}) {
    EXPECT_EQ(refused(with(fields)), 400) << fields;
  }
  EXPECT_EQ(refused("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(refused("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(refused("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(refused("GET health HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(refused("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(refused("nonsense\r\n\r\n"), 400);
  EXPECT_EQ(refused("GET / HTTP/1.1\nHost: a\n\n"), 400);
  EXPECT_EQ(refused("\x16\x03\x01"), 400);
}

TEST(Framing, NamesWhatItDoesNotSupport) {
  for (const auto* coding : {"gzip", "gzip, chunked", "chunked, gzip", "xchunked", "chunked;q=1"}) {
    EXPECT_EQ(refused(with("Transfer-Encoding: " + std::string(coding) + "\r\n")), 501) << coding;
  }
  EXPECT_EQ(refused("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(refused("GET / HTTP/1.2\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(refused("GET / HTTQ/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(Framing, LimitsTheHeadTo64KiB) {
  EXPECT_EQ(refused(with("X: " + std::string(60'000, 'x') + "\r\n")), 0);
  EXPECT_EQ(refused(with("X: " + std::string(65'536, 'x') + "\r\n")), 431);
  EXPECT_EQ(refused("GET /" + std::string(70'000, 'x')), 431);
}

TEST(RequestParser, ReadsBodiesHoweverTheyArrive) {
  const std::string raw =
      "POST /chat HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n2;x=y\r\nef\r\n0\r\n\r\n";
  for (std::size_t piece = 1; piece < raw.size(); ++piece) {
    RequestParser parser;
    std::string in;
    for (std::size_t at = 0; at < raw.size(); at += piece) {
      in += raw.substr(at, piece);
      in.erase(0, parser.put(in));
      if (parser.head_done() && !parser.done()) parser.collect_body(100);
      in.erase(0, parser.put(in));
    }
    ASSERT_TRUE(parser.done()) << piece;
    EXPECT_FALSE(parser.refusal());
    EXPECT_EQ(parser.take_body(), "abcdef") << piece;
  }
}

TEST(RequestParser, ReadsAnEmptyBodyHoweverItArrives) {
  RequestParser parser;
  std::string in = "POST /chat HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  in.erase(0, parser.put(in));
  parser.collect_body(100);
  for (const char byte : std::string_view("0\r\n\r\n")) {
    EXPECT_FALSE(parser.done());
    in += byte;
    in.erase(0, parser.put(in));
    ASSERT_FALSE(parser.refusal());
  }
  EXPECT_TRUE(parser.done());
}

TEST(RequestParser, RefusesABareLineFeedAfterTheLastChunk) {
  RequestParser parser;
  std::string in = "POST /chat HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  in.erase(0, parser.put(in));
  parser.put("0\r\n\n");
  EXPECT_TRUE(parser.refusal());
}

TEST(RequestParser, KeepsNoMoreOfABodyThanItMay) {
  RequestParser parser;
  std::string in = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  in.erase(0, parser.put(in));
  parser.collect_body(4);
  parser.put("5\r\nabcde\r\n");
  EXPECT_TRUE(parser.body_too_large());
  EXPECT_EQ(parser.take_body(), "");
}

TEST(RequestParser, RefusesBrokenChunks) {
  for (const auto* chunk : {"zz\r\n", "-1\r\n", "4\r\nabcdXX0\r\n\r\n", "fffffffffffffffff\r\n"}) {
    RequestParser parser;
    std::string in = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    in.erase(0, parser.put(in));
    parser.put(chunk);
    EXPECT_TRUE(parser.refusal()) << chunk;
  }
}

TEST(RequestParser, RefusesEndlessFramingOfChunks) {
  const std::string much(RequestParser::chunk_line_limit + 10, 'a');
  std::string trailers;
  while (trailers.size() <= RequestParser::head_limit) trailers += "X-Trailer: a\r\n";
  for (const auto& chunks :
       {"1;a=" + much, "1;a=" + much + "\r\nx\r\n0\r\n\r\n", std::string(much.size(), '0'), "1\r\nx\r\n1;a=" + much,
        "0;a=" + much + "\r\n\r\n", "1\r\nx\r\n0\r\n" + trailers, "0\r\n" + trailers + "\r\n"}) {
    RequestParser parser;
    std::string in = "POST /pair HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    in.erase(0, parser.put(in));
    parser.put(chunks);
    ASSERT_TRUE(parser.refusal()) << chunks.substr(0, 20);
    EXPECT_EQ(parser.refusal()->status, 400);
  }
}

TEST(RequestParser, TakesChunksOfAnyLengthBetweenShortLines) {
  RequestParser parser;
  std::string in = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  in.erase(0, parser.put(in));
  parser.collect_body(1024 * 1024);
  parser.put("40000;a=" + std::string(1000, 'b') + "\r\n" + std::string(0x40000, 'x') + "\r\n0\r\nX: y\r\n\r\n");
  EXPECT_FALSE(parser.refusal());
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(parser.take_body().size(), 0x40000);
}

TEST(RequestParser, TakesSeveralLinesOfSubprotocolsAsOneList) {
  RequestParser parser;
  parser.put(with("Sec-WebSocket-Protocol: bearer\r\nX: y\r\nSec-WebSocket-Protocol:\tsecret\r\n"));
  EXPECT_EQ(parser.head().field("sec-websocket-protocol"), "bearer, secret");
}

}  // namespace
}  // namespace agw
