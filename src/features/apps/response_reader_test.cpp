#include "features/apps/response_reader.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

struct Read {
  int status = 0;
  std::string body;
  bool done = false;
  bool failed = false;
  std::size_t left = 0;
};

/// Feeds the bytes in pieces of `size`, as a connection would, and then its end.
Read read(std::string_view bytes, std::size_t size, bool without_body = false, bool ends = true) {
  ResponseReader reader;
  reader.reset(without_body);
  Read found;
  std::string in;
  while (!bytes.empty()) {
    in += bytes.substr(0, size);
    bytes.remove_prefix(std::min(size, bytes.size()));
    for (std::size_t used = 1; used > 0 && !reader.done() && !reader.failed();) {
      used = reader.put(in);
      for (const auto piece : reader.pieces()) found.body += piece;
      in.erase(0, used);
    }
  }
  if (ends) reader.put_end();
  found.status = reader.head().status;
  found.done = reader.done();
  found.failed = reader.failed();
  found.left = in.size();
  return found;
}

class ResponseReading : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(InPieces, ResponseReading, ::testing::Values(1, 7, 10'000));

TEST_P(ResponseReading, BodiesOfEachFraming) {
  for (const std::string body :
       {"Content-Length: 5\r\n\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=1\r\nlo\r\n0\r\nT: 1\r\n\r\n", "\r\nhello"}) {
    const auto found = read("HTTP/1.1 200 OK\r\n" + body, GetParam());
    EXPECT_EQ(found.status, 200);
    EXPECT_EQ(found.body, "hello") << body;
    EXPECT_TRUE(found.done) << body;
    EXPECT_FALSE(found.failed);
  }
}

TEST_P(ResponseReading, ATruncationIsDetected) {
  for (const std::string body : {"Content-Length: 6\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n6\r\nhello",
                                 "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "Content-Le"}) {
    const auto found = read("HTTP/1.1 200 OK\r\n" + body, GetParam());
    EXPECT_FALSE(found.done) << body;
    EXPECT_TRUE(found.failed) << body;
  }
}

TEST_P(ResponseReading, SomeHaveNoBodyWhateverTheirHeaders) {
  EXPECT_TRUE(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", GetParam(), false, false).done);
  EXPECT_TRUE(read("HTTP/1.1 204 No Content\r\n\r\n", GetParam(), false, false).done);
  EXPECT_TRUE(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", GetParam(), true, false).done);
}

TEST_P(ResponseReading, BytesAfterAResponseAreLeft) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxyz", GetParam()).left, 2U);
}

TEST_P(ResponseReading, InvalidResponsesFail) {
  for (const std::string bytes :
       {"nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    EXPECT_TRUE(read(bytes, GetParam()).failed) << bytes;
  }
  EXPECT_TRUE(read("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'), 10'000).failed);
}

}  // namespace
}  // namespace agw
