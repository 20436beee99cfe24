#include "server/mcp/stream.hpp"
#include "server/mcp/session.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string text_after(const McpStream& stream, std::uint64_t number) {
  const auto* message = stream.after(number);
  return message ? message->text : "";
}

TEST(McpStream, IsReadFromAnyMessageOn) {
  Loop loop;
  McpStream stream(loop);
  EXPECT_EQ(stream.after(0), nullptr);
  stream.push("one");
  stream.push("two");
  stream.finish("three", 200);
  EXPECT_EQ(text_after(stream, 0), "one");
  EXPECT_EQ(text_after(stream, 1), "two");
  EXPECT_TRUE(stream.after(2)->is_response);
  EXPECT_EQ(stream.after(3), nullptr);
  EXPECT_EQ(stream.after(1000), nullptr);
}

TEST(McpStream, TakesNothingAfterItsEnd) {
  Loop loop;
  McpStream stream(loop);
  stream.finish("response", 404);
  stream.push("late");
  stream.finish("again", 200);
  EXPECT_EQ(stream.latest(), 1u);
  EXPECT_EQ(stream.status(), 404);
}

TEST(McpStream, DropsTheOldestMessagesAndKeepsTheResponse) {
  Loop loop;
  McpStream stream(loop);
  for (std::size_t i = 0; i < McpStream::max_messages; ++i) stream.push(std::to_string(i + 1));
  stream.finish(std::string(McpStream::max_bytes + 1, 'x'), 200);
  EXPECT_TRUE(stream.after(0)->is_response);
  EXPECT_EQ(stream.after(0)->number, McpStream::max_messages + 1);
}

TEST(McpClientSession, BoundsTheBytesOfStreamsThatItKeeps) {
  Loop loop;
  const auto session = std::make_shared<McpClientSession>(loop, "2025-11-25", json::object());
  const auto answer = [&](const std::string& key, std::size_t length) {
    const auto exchange = std::make_shared<McpExchange>();
    exchange->id = json::value(key);
    exchange->session = session;
    exchange->stream = std::make_shared<McpStream>(loop, key);
    session->begin(exchange);
    exchange->stream->finish(std::string(length, 'x'), 200);
    session->end(exchange);
  };
  const auto half = McpClientSession::max_ended_bytes / 2;
  for (const auto* key : {"1", "2", "3"}) answer(key, half);
  EXPECT_FALSE(session->stream("1"));
  EXPECT_TRUE(session->stream("2"));
  EXPECT_TRUE(session->stream("3"));
  answer("4", 3 * half);
  EXPECT_FALSE(session->stream("3"));
  EXPECT_TRUE(session->stream("4"));
}

}  // namespace
}  // namespace agw
