#include "models/picture.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(Picture, HasTheNameThatProvidersKnow) {
  for (const auto* mime : {"image/png", "image/jpeg", "image/gif", "image/webp"}) EXPECT_EQ(picture_mime(mime), mime);
  EXPECT_EQ(picture_mime("image/jpg"), "image/jpeg");
  for (const auto* mime : {"", "image/tiff", "image/svg+xml", "text/plain"}) EXPECT_EQ(picture_mime(mime), "") << mime;
}

TEST(Picture, IsRecognizedByItsFirstBytes) {
  EXPECT_TRUE(is_picture("image/png", "\x89PNG\r\n"));
  EXPECT_TRUE(is_picture("image/jpeg", "\xff\xd8\xff\xe0"));
  EXPECT_TRUE(is_picture("image/jpg", "\xff\xd8\xff\xe0"));
  EXPECT_TRUE(is_picture("image/gif", "GIF89a"));
  EXPECT_TRUE(is_picture("image/webp", "RIFFxxxxWEBPVP8 "));
  EXPECT_FALSE(is_picture("image/png", "GIF89a"));
  EXPECT_FALSE(is_picture("image/webp", "RIFFxxxxWAVE"));
  EXPECT_FALSE(is_picture("image/jpeg", ""));
  EXPECT_FALSE(is_picture("image/tiff", "II*"));
}

TEST(Picture, HasTheTypeThatItsBytesSay) {
  EXPECT_EQ(mime_of_picture("\x89PNG\r\n"), "image/png");
  EXPECT_EQ(mime_of_picture("RIFFxxxxWEBPVP8 "), "image/webp");
  for (const auto* bytes : {"", "<svg xmlns=", "II*"}) EXPECT_EQ(mime_of_picture(bytes), "") << bytes;
}

}  // namespace
}  // namespace agw
