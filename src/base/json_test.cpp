#include "base/json.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, RefusesWhatIsNotStrictJson) {
  for (const std::string text : {"",
                                 "{",
                                 "{]",
                                 "nul",
                                 "1e400",
                                 "-1e999",
                                 "[1e400]",
                                 R"({"a":{"b":1e400}})",
                                 "\"\xff\"",
                                 "\"\xc0\x80\"",
                                 "\"\xed\xa0\x80\"",
                                 R"("\ud800")",
                                 R"("\udc00")",
                                 R"("\ud800x")",
                                 "\xef\xbb\xbf{}",
                                 "{} {}",
                                 "[1,]",
                                 "{'a':1}",
                                 "NaN",
                                 "01",
                                 "\"\n\""}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(Json, AcceptsDepth64AndNoMore) {
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_FALSE(parse_json(nested(65)));
  EXPECT_FALSE(parse_json(nested(100000)));
}

TEST(Json, TheLastOfADoubledMemberWins) { EXPECT_EQ(to_json(*parse_json(R"({"a":1,"a":2})")), R"({"a":2})"); }

TEST(Json, WritesWhatItRead) {
  for (const std::string text : {R"({"a":[1,-2,3.5,true,false,null,"x\u0001\"\\"]})", "18446744073709551615", "1e-07",
                                 "\"\xf0\x9f\x98\x80\"", "0.1"}) {
    EXPECT_EQ(to_json(*parse_json(text)), text);
  }
}

TEST(Json, ReplacesInvalidUtf8) {
  EXPECT_EQ(to_utf8("a\xff\xc3\xa9\xe2\x82"), "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_TRUE(is_utf8("\xc3\xa9"));
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));
}

}  // namespace
}  // namespace agw
