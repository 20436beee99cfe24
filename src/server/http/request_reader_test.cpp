#include "server/http/request_reader.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include <gtest/gtest.h>

#include "io/files/descriptor.hpp"

namespace agw {
namespace {

using Body = RequestReader::Body;
using Parsed = RequestReader::Parsed;
using Received = RequestReader::Received;

/// A reader at one end of a socket pair; the test is the client at the other end.
class ReaderOfAPair {
public:
  ReaderOfAPair() : ReaderOfAPair(socket_pair()) {}

  void send(std::string_view bytes) {
    ASSERT_EQ(::write(client_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    reader.on_readable(false);
  }
  void close() {
    client_ = Descriptor();
    reader.on_readable(true);
  }

private:
  static std::array<int, 2> socket_pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    return ends;
  }
  explicit ReaderOfAPair(std::array<int, 2> ends) : client_(ends[1]), stream_(loop_, Descriptor(ends[0])) {}

  Loop loop_;
  Descriptor client_;
  SocketStream stream_;

public:
  RequestReader reader{stream_};
};

TEST(RequestReader, ParsesPipelinedRequestsFromOneReceive) {
  ReaderOfAPair pair;
  auto& reader = pair.reader;
  EXPECT_FALSE(reader.readable());
  pair.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\nPOST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_TRUE(reader.readable());
  EXPECT_EQ(reader.try_receive(), Received::bytes);
  EXPECT_FALSE(reader.readable());

  EXPECT_EQ(reader.parse_head(), Parsed::complete);
  EXPECT_EQ(reader.head().target, "/a");
  reader.next_request();
  EXPECT_EQ(reader.parse_head(), Parsed::complete);
  EXPECT_EQ(reader.head().target, "/b");
  EXPECT_EQ(reader.begin_body(1024), Body::complete);
  EXPECT_EQ(reader.parser().take_body(), "hi");
  EXPECT_TRUE(reader.buffer().empty());
}

TEST(RequestReader, StaysReadableUntilTheEndOfTheStreamWasRead) {
  ReaderOfAPair pair;
  auto& reader = pair.reader;
  pair.send("GET /");
  pair.close();
  EXPECT_EQ(reader.try_receive(), Received::bytes);
  EXPECT_TRUE(reader.readable());
  EXPECT_EQ(reader.parse_head(), Parsed::incomplete);
  EXPECT_EQ(reader.try_receive(), Received::closed);
}

TEST(RequestReader, IsNotReadableOnceNothingIsThere) {
  ReaderOfAPair pair;
  pair.reader.on_readable(false);
  EXPECT_EQ(pair.reader.try_receive(), Received::nothing);
  EXPECT_FALSE(pair.reader.readable());
}

TEST(RequestReader, ReportsABodyThatIsIncompleteTooLargeOrMalformed) {
  const auto begun = [](std::string_view head_and_body) {
    ReaderOfAPair pair;
    pair.send(head_and_body);
    EXPECT_EQ(pair.reader.try_receive(), Received::bytes);
    EXPECT_EQ(pair.reader.parse_head(), Parsed::complete);
    return pair.reader.begin_body(4);
  };
  EXPECT_EQ(begun("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab"), Body::incomplete);
  EXPECT_EQ(begun("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcde"), Body::too_large);
  EXPECT_EQ(begun("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"), Body::refused);
  EXPECT_EQ(begun("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), Body::complete);
}

}  // namespace
}  // namespace agw
