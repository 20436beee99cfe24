#include "io/files/brotli.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace agw {
namespace {

using namespace std::string_view_literals;

/// The output of `brotli --best` for 20 times `script();`.
constexpr auto stream = "\037\263\000\370\305\051\147\132\300\031\106\131\353\017\335\202\201\345\171\351\203\002"sv;
constexpr std::size_t size = 180;

TEST(Brotli, RoundTrips) {
  std::string content;
  for (int i = 0; i < 20; ++i) content += "script();";
  EXPECT_EQ(brotli_decompressed(stream, size), content);
}

TEST(Brotli, RefusesDamagedStreamsAndOtherSizes) {
  EXPECT_THROW(brotli_decompressed(stream.substr(1), size), std::runtime_error);
  EXPECT_THROW(brotli_decompressed(stream, size - 1), std::runtime_error);
  EXPECT_THROW(brotli_decompressed(stream, size + 1), std::runtime_error);
}

}  // namespace
}  // namespace agw
