#include "cli/output/line_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

namespace agw::cli {
namespace {

/// The read end of a closed pipe that contains a text.
int pipe_with(std::string_view text) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  return ends[0];
}

TEST(LineReader, ReadsLinesAndARestWithoutLineFeed) {
  LineReader lines(pipe_with("one\n\ntwo"), 10);
  EXPECT_EQ(lines.next()->text, "one");
  EXPECT_EQ(lines.next()->text, "");
  EXPECT_EQ(lines.next()->text, "two");
  EXPECT_FALSE(lines.next());
}

TEST(LineReader, DropsALineThatIsTooLong) {
  LineReader lines(pipe_with("12345\n1234\n" + std::string(1000, 'x')), 4);
  EXPECT_TRUE(lines.next()->is_too_long);
  EXPECT_EQ(lines.next()->text, "1234");
  const auto last = lines.next();
  EXPECT_TRUE(last->is_too_long);
  EXPECT_EQ(last->text, "");
  EXPECT_FALSE(lines.next());
}

TEST(LineStreams, WaitForDescriptorsThatDoNotBlock) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
  const std::string text(1 << 20, 'x');  // a pipe holds less
  std::thread writer([&] {
    EXPECT_EQ(write_line(ends[1], text), 0);
    ::close(ends[1]);
  });
  LineReader lines(ends[0], text.size());
  EXPECT_EQ(lines.next()->text, text);
  EXPECT_FALSE(lines.next());
  writer.join();
}

}  // namespace
}  // namespace agw::cli
