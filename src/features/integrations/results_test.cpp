#include "features/integrations/results.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

json::object result_with(std::string_view type, std::string_view data) {
  return {{"content", json::array{json::object{{"type", "image"}, {"mimeType", type}, {"data", data}}}}};
}

TEST(McpResults, APictureHasTheTypeOfItsBytes) {
  const auto images = tool_outcome(result_with("image/jpg", "/9j/4A==")).images;
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].mime, "image/jpeg");
  EXPECT_EQ(images[0].bytes, "\xff\xd8\xff\xe0");
}

TEST(McpResults, AnInvalidPictureIsLeftOut) {
  EXPECT_TRUE(tool_outcome(result_with("image/png", "PHN2Zz4=")).images.empty());
  EXPECT_TRUE(tool_outcome(result_with("image/svg+xml", "PHN2Zz4=")).images.empty());
  EXPECT_TRUE(tool_outcome(result_with("image/jpeg", "/9j/4A=")).images.empty());
}

}  // namespace
}  // namespace agw
