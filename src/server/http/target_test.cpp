#include "server/http/target.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

using Segments = std::vector<std::string>;

TEST(Target, IsSplitThenDecodedAndNeverNormalised) {
  EXPECT_EQ(parse_target("/agents/../soul").segments, (Segments{"agents", "..", "soul"}));
  EXPECT_EQ(parse_target("/agents/a%2Fb/soul").segments, (Segments{"agents", "a/b", "soul"}));
  EXPECT_EQ(parse_target("/a//b/").segments, (Segments{"a", "", "b", ""}));
  EXPECT_EQ(parse_target("/a+b").segments, (Segments{"a+b"}));
  EXPECT_EQ(parse_target("http://host:1/a?b=c").segments, (Segments{"a"}));
  EXPECT_EQ(parse_target("http://host:1/a?b=c").authority, "host:1");
}

TEST(Target, NamesBrokenEscapes) {
  for (const auto* path : {"/%00", "/%", "/%4", "/%zz", "/%ff"}) EXPECT_TRUE(parse_target(path).bad_path) << path;
  for (const auto* path : {"/a?b=%00", "/a?%zz=1"}) EXPECT_TRUE(parse_target(path).bad_query) << path;
  EXPECT_FALSE(parse_target("/%C3%A9?q=%C3%A9").bad_path);
}

TEST(Target, ReadsTheQueryInOrder) {
  const auto target = parse_target("/s?q=a+b%2B&limit=2&q=other&flag&empty=");
  ASSERT_EQ(target.parameters.size(), 5u);
  EXPECT_EQ(target.parameters[0], (std::pair<std::string, std::string>{"q", "a b+"}));
  EXPECT_EQ(target.parameters[3], (std::pair<std::string, std::string>{"flag", ""}));
}

}  // namespace
}  // namespace agw
