#include "features/cluster/node_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

constexpr std::string_view shared_secret = "shared";

NodeMessage message_with(std::string body) {
  return {.from = "a", .epoch = 1, .number = 7, .kind = "event", .head = {{"type", "finish"}}, .body = std::move(body)};
}

TEST(NodeMessageTest, FramesAreJoined) {
  const std::string body(2'500, 'x');
  const auto frames = sealed_frames(shared_secret, "s", message_with(body), 1'000);
  ASSERT_EQ(frames.size(), 3);
  NodeMessageReader reader{std::string(shared_secret)};
  EXPECT_FALSE(reader.take("s", frames[0])->message);
  EXPECT_FALSE(reader.take("s", frames[1])->message);
  const auto last = reader.take("s", frames[2]);
  EXPECT_EQ(last->number, 9);
  ASSERT_TRUE(last->message);
  EXPECT_EQ(last->message->body, body);
  EXPECT_EQ(last->message->kind, "event");
  EXPECT_EQ(last->message->head.at("type"), "finish");
}

TEST(NodeMessageTest, AMessageWithAMissingFrameIsDropped) {
  const auto frames = sealed_frames(shared_secret, "s", message_with(std::string(2'500, 'x')), 1'000);
  NodeMessageReader reader{std::string(shared_secret)};
  EXPECT_FALSE(reader.take("s", frames[0])->message);
  EXPECT_FALSE(reader.take("s", frames[2])->message);
  EXPECT_TRUE(reader.take("s", sealed_frames(shared_secret, "s", message_with("short"), 1'000)[0])->message);
}

TEST(NodeMessageTest, AcceptsOnlyMessagesWithTheSecretAndOnTheirSubject) {
  NodeMessageReader reader{std::string(shared_secret)};
  EXPECT_FALSE(reader.take("s", sealed_frames("guessed", "s", message_with("x"), 1'000)[0]));
  const auto frame = sealed_frames(shared_secret, "s", message_with("x"), 1'000)[0];
  EXPECT_FALSE(reader.take("other", frame));
  for (std::size_t i = 0; i < frame.size(); ++i) {
    auto changed = frame;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(reader.take("s", changed)) << i;
  }
  EXPECT_FALSE(reader.take("s", ""));
  EXPECT_TRUE(reader.take("s", frame)->message);
}

}  // namespace
}  // namespace agw
