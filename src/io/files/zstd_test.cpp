#include "io/files/zstd.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

constexpr int fast_level = 1;
constexpr std::size_t max_content = 1'000'000;

TEST(Zstd, RoundTrips) {
  for (const auto& content : {std::string(), std::string("a"), std::string(500'000, 'x')}) {
    const auto frame = zstd_compressed(content, fast_level);
    EXPECT_EQ(zstd_decompressed(frame, max_content), content);
    EXPECT_LT(frame.size(), content.size() / 2 + 50);
  }
}

TEST(Zstd, RefusesDamagedFramesAndLargeContents) {
  const auto frame = zstd_compressed("words, words, words", fast_level);
  EXPECT_EQ(zstd_decompressed(frame.substr(0, frame.size() - 1), max_content), std::nullopt);
  EXPECT_EQ(zstd_decompressed("no frame", max_content), std::nullopt);
  EXPECT_EQ(zstd_decompressed("", max_content), std::nullopt);
  EXPECT_EQ(zstd_decompressed(frame, 5), std::nullopt);
}

}  // namespace
}  // namespace agw
