#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/context/model_request.hpp"

namespace agw {
namespace {

using ::testing::HasSubstr;

Message result(const std::string& tool, std::size_t pictures) {
  Message message{.role = Message::Role::tool, .text = "See:", .tool_name = tool};
  message.images.resize(pictures, {"image/png", "bytes of " + tool});
  return message;
}

TEST(ToolPictures, FollowTheirResults) {
  std::vector results{result("camera", 1), result("clock", 0), result("browser", 2)};
  const auto shown = extract_pictures(results, 20);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->role, Message::Role::user);
  EXPECT_THAT(shown->text, HasSubstr("camera, browser, browser"));
  ASSERT_EQ(shown->images.size(), 3u);
  EXPECT_EQ(shown->images[1].bytes, "bytes of browser");
  for (const auto& each : results) EXPECT_TRUE(each.images.empty());
}

TEST(ToolPictures, AreLimited) {
  std::vector results{result("camera", 3)};
  EXPECT_EQ(extract_pictures(results, 2)->images.size(), 2u);
  results = {result("camera", 3)};
  EXPECT_FALSE(extract_pictures(results, 0));
  EXPECT_TRUE(results[0].images.empty());
}

}  // namespace
}  // namespace agw
