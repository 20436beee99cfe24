#include "models/picture.hpp"

#include <string>

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

TEST(Picture, HasTheSideThatItsBytesSay) {
  using namespace std::string_literals;
  EXPECT_EQ(longer_side("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x05\0\0\0\x23\x28"s), 9'000U);
  EXPECT_EQ(longer_side("GIF89a\x40\x1f\x01\0"s), 8'000U);
  EXPECT_EQ(longer_side("\xff\xd8\xff\xe0\0\x04\x01\x02\xff\xc2\0\x11\x08\x01\x02\x03\x04"s), 0x304U);
  EXPECT_EQ(longer_side("RIFFxxxxWEBPVP8Xxxxxxxxx\xff\x04\0\x27\x23\0"s), 9'000U);
  EXPECT_EQ(longer_side("RIFFxxxxWEBPVP8 xxxxxxxxxx\x00\x45\x28\x23"s), 9'000U);
  EXPECT_EQ(longer_side("RIFFxxxxWEBPVP8Lxxxx/\xff\x04\xca\x08xxxxx"s), 9'001U);
  for (const auto& bytes :
       {""s, "\x89PNG\r\n"s, "GIF89a"s, "\xff\xd8\xff"s, "\xff\xd8\xff\xe0\xff\xff\x01\x02"s, "RIFFxxxxWEBP"s})
    EXPECT_EQ(longer_side(bytes), std::nullopt) << bytes;
}

}  // namespace
}  // namespace agw
