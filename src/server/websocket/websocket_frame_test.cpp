#include "server/websocket/websocket_frame.hpp"

#include <gtest/gtest.h>

namespace agw::websocket {
namespace {

/// A frame from a client: masked.
std::string masked(int first, std::string_view payload) {
  std::string out(1, static_cast<char>(first));
  if (payload.size() < 126) {
    out += static_cast<char>(0x80 | payload.size());
  } else if (payload.size() < 65536) {
    out += static_cast<char>(0x80 | 126);
    out += static_cast<char>(payload.size() >> 8);
    out += static_cast<char>(payload.size());
  } else {
    out += static_cast<char>(0x80 | 127);
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(payload.size() >> shift);
  }
  const std::string_view mask = "\x12\x34\x56\x78";
  out += mask;
  for (std::size_t i = 0; i < payload.size(); ++i) out += static_cast<char>(payload[i] ^ mask[i % 4]);
  return out;
}

Incoming read(const std::string& bytes) {
  FrameReader reader;
  reader.put(bytes);
  auto incoming = reader.next();
  return incoming ? *incoming : Incoming{Incoming::Kind::pong, "nothing"};
}

int violation(const std::string& bytes) {
  const auto incoming = read(bytes);
  return incoming.kind == Incoming::Kind::violation ? static_cast<int>(incoming.code) : 0;
}

TEST(Frames, ReadsMessagesOfEverySizeByteByByte) {
  for (const std::size_t size : {0u, 1u, 125u, 126u, 65535u, 65536u, 1048576u}) {
    const std::string text(size, 'x');
    EXPECT_EQ(read(masked(0x81, text)).payload, text) << size;
  }
  FrameReader reader;
  const auto bytes = masked(0x81, "hello");
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    reader.put(bytes.substr(i, 1));
    EXPECT_FALSE(reader.next());
  }
  reader.put(bytes.substr(bytes.size() - 1));
  EXPECT_EQ(reader.next()->payload, "hello");
}

TEST(Frames, PutsFragmentsTogetherAroundControlFrames) {
  FrameReader reader;
  reader.put(masked(0x01, "hel") + masked(0x89, "p") + masked(0x80, "lo"));
  EXPECT_EQ(reader.next()->kind, Incoming::Kind::ping);
  EXPECT_EQ(reader.next()->payload, "hello");
}

TEST(Frames, TakesAMessageOfAnyNumberOfFragments) {
  FrameReader reader;
  std::string bytes = masked(0x01, "");
  for (int i = 0; i < 100'000; ++i) bytes += masked(0x00, "");
  reader.put(bytes + masked(0x80, "end") + masked(0x81, "next"));
  EXPECT_EQ(reader.next()->payload, "end");
  EXPECT_EQ(reader.next()->payload, "next");
  EXPECT_FALSE(reader.next());
}

TEST(Frames, RefusesALengthThatIsLongerThanItNeedsToBe) {
  EXPECT_EQ(violation(std::string("\x81\xfe\x00\x01\0\0\0\0x", 9)), 1002);
  EXPECT_EQ(violation(std::string("\x81\xff\0\0\0\0\0\0\x01\x00\0\0\0\0", 14)), 1002);
  EXPECT_EQ(violation(std::string("\x81\xff\x80\0\0\0\0\0\0\x01\0\0\0\0x", 15)), 1002);
}

TEST(Frames, NamesViolations) {
  EXPECT_EQ(violation(std::string("\x81\x01x", 3)), 1002);  // no mask
  EXPECT_EQ(violation(masked(0xc1, "x")), 1002);            // reserved bit
  EXPECT_EQ(violation(masked(0x83, "x")), 1002);            // unknown opcode
  EXPECT_EQ(violation(masked(0x80, "x")), 1002);            // continuation without a start
  EXPECT_EQ(violation(masked(0x09, "x")), 1002);            // fragmented ping
  EXPECT_EQ(violation(masked(0x89, std::string(126, 'x'))), 1002);
  EXPECT_EQ(violation(masked(0x82, "x")), 1003);
  EXPECT_EQ(violation(masked(0x81, "\xff")), 1007);
  EXPECT_EQ(violation(masked(0x81, std::string(1048577, 'x'))), 1009);
  EXPECT_EQ(violation(masked(0x88, "\x03")), 1002);      // incomplete code
  EXPECT_EQ(violation(masked(0x88, "\x03\xed")), 1002);  // 1005 must not be sent
  EXPECT_EQ(violation(masked(0x88, std::string("\x03\xe8\xff", 3))), 1007);
}

TEST(Frames, AnswersACloseWithItsCode) {
  EXPECT_EQ(read(masked(0x88, "")).code, CloseCode::normal);
  EXPECT_EQ(read(masked(0x88, "\x03\xe9gone")).code, CloseCode::going_away);
}

TEST(Frames, MakesTheAcceptKeyOfTheStandardsExample) {
  EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_FALSE(accept_key("short"));
  EXPECT_FALSE(accept_key("!!!!!!!!!!!!!!!!!!!!!!=="));
  EXPECT_FALSE(accept_key("dGhlIHNhbXBsZSBub25j===="));
  EXPECT_FALSE(accept_key("dGhl=HNhbXBsZSBub25jZQ=="));
}

}  // namespace
}  // namespace agw::websocket
