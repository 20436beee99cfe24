#include "server/websocket/frame_queue.hpp"

#include <deque>
#include <string>

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(FrameQueue, KeepsTheOrder) {
  FrameQueue queue;
  std::deque<std::string> expected;
  for (int number = 0; number < 1000; ++number) {
    queue.push_back({std::to_string(number), nullptr});
    expected.push_back(std::to_string(number));
    if (number % 3 != 0) {
      EXPECT_EQ(queue.front().bytes, expected.front());
      queue.pop_front();
      expected.pop_front();
    }
    ASSERT_EQ(queue.size(), expected.size());
  }
  queue.pop_back();
  expected.pop_back();
  for (std::size_t at = 0; at < expected.size(); ++at) EXPECT_EQ(queue[at].bytes, expected[at]);
  EXPECT_EQ(queue.back().bytes, expected.back());
  while (!queue.empty()) {
    EXPECT_EQ(queue.front().bytes, expected.front());
    queue.pop_front();
    expected.pop_front();
  }
  EXPECT_TRUE(expected.empty());
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace agw
