#include "io/files/gzip.hpp"

#include <gtest/gtest.h>

#include <boost/beast/zlib/inflate_stream.hpp>

namespace agw {
namespace {

std::string unpacked(std::string_view gzip, std::size_t size) {
  constexpr std::size_t head = 10;
  constexpr std::size_t tail = 8;
  std::string content(size, '\0');
  boost::beast::zlib::z_params step;
  step.next_in = gzip.data() + head;
  step.avail_in = gzip.size() - head - tail;
  step.next_out = content.data();
  step.avail_out = content.size();
  boost::beast::error_code error;
  boost::beast::zlib::inflate_stream{}.write(step, boost::beast::zlib::Flush::finish, error);
  return step.avail_in == 0 ? content : error.message();
}

TEST(Gzip, IsWhatOthersUnpack) {
  std::string content;
  for (int i = 0; i < 20'000; ++i) content += "line " + std::to_string(i * i) + "\n";
  const auto gzip = gzip_compressed(content);
  EXPECT_LT(gzip.size(), content.size() / 2);
  EXPECT_EQ(unpacked(gzip, content.size()), content);
}

TEST(Gzip, EndsWithTheSumAndTheSize) {
  EXPECT_TRUE(gzip_compressed("script();").ends_with(std::string("\x09\0\0\0", 4)));
  // The CRC32 of RFC 1952, as computed by Python's zlib.crc32(b"script();").
  EXPECT_EQ(gzip_compressed("script();").substr(gzip_compressed("script();").size() - 8, 4),
            std::string("\345\145\323\373", 4));
}

}  // namespace
}  // namespace agw
