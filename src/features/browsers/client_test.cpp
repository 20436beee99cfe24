#include "features/browsers/client.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/cancellation.hpp"

namespace agw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Keeps what it is sent.
class KeepingSocket : public MessageSocket {
public:
  Task<std::optional<std::string>> read() override { co_return std::nullopt; }
  void send(std::string_view message) override { sent.emplace_back(message); }
  StopSource& stop_source() override { return stop_; }

  std::vector<std::string> sent;

private:
  StopSource stop_;
};

constexpr auto first = R"({"type":"frame","seq":1,"data":"AAAA","width":800,"height":600.5,"scrollX":0,"scrollY":0})";
constexpr auto second = R"({"type":"frame","seq":2,"data":"BBBB","width":800,"height":600,"scrollX":0,"scrollY":12.5})";

TEST(BrowserClientTest, GetsTheNextPictureOnceItHasShownOne) {
  KeepingSocket socket;
  BrowserClient client(socket);
  EXPECT_TRUE(client.offer({.number = 7, .data = "AAAA", .width = 800, .height = 600.5}));
  const BrowserPicture next{.number = 9, .data = "BBBB", .width = 800, .height = 600, .scroll_y = 12.5};
  EXPECT_FALSE(client.offer(next));
  client.note_shown(1);
  EXPECT_TRUE(client.offer(next));
  EXPECT_THAT(socket.sent, ElementsAre(first, second));
}

TEST(BrowserClientTest, GetsNoPictureTwice) {
  KeepingSocket socket;
  BrowserClient client(socket);
  const BrowserPicture picture{.number = 1, .data = "AAAA", .width = 800, .height = 600.5};
  EXPECT_TRUE(client.offer(picture));
  client.note_shown(5);
  EXPECT_FALSE(client.offer(picture));
  EXPECT_THAT(socket.sent, ElementsAre(first));
}

TEST(BrowserClientTest, GetsNoPictureThatIsNotThere) {
  KeepingSocket socket;
  BrowserClient client(socket);
  EXPECT_FALSE(client.offer({.number = 3}));
  EXPECT_THAT(socket.sent, IsEmpty());
}

}  // namespace
}  // namespace agw
