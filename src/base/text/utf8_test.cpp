#include "base/text/utf8.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(Utf8Prefix, EndsBetweenCharacters) {
  EXPECT_EQ(utf8_prefix("aü", 2), "a");
  EXPECT_EQ(utf8_prefix("aü", 3), "aü");
  EXPECT_EQ(utf8_prefix("aü", 9), "aü");
  EXPECT_EQ(utf8_prefix("ü", 0), "");
  EXPECT_EQ(utf8_prefix("a😀b", 4), "a");
  EXPECT_EQ(utf8_prefix("a😀b", 5), "a😀");
}

TEST(Shortened, MarksOmittedText) {
  EXPECT_EQ(shortened("aü", 3), "aü");
  EXPECT_EQ(shortened("aüb", 3), "aü…");
  EXPECT_EQ(shortened("aüb", 2), "a…");
}

TEST(FirstCharacters, CountsCharactersAndNotBytes) {
  EXPECT_EQ(first_characters("Grüße", 3), "Grü");
  EXPECT_EQ(first_characters("Grüße", 4), "Grüß");
  EXPECT_EQ(first_characters("Grüße", 9), "Grüße");
  EXPECT_EQ(first_characters("Grüße", 0), "");
}

TEST(CountCharacters, CountsCharactersAndNotBytes) {
  EXPECT_EQ(count_characters(""), 0);
  EXPECT_EQ(count_characters("Grüße"), 5);
  EXPECT_EQ(count_characters("a😀b"), 3);
}

TEST(Invisible, IsWhatNobodySees) {
  for (const std::string_view text : {"", " \t\r\n\v", "\u00a0", "\u200b\u200d", "\u2028\u3000", "\ufeff", "\u2800",
                                      "\u00ad\u2060\u3164\ufe0f", "\U000e0041"})
    EXPECT_TRUE(is_invisible(text)) << text;
  for (const std::string_view text :
       {"a", " .", "\u200bü", "\u3002", "\u2764\ufe0f", "\u0301", "\x80", "\xe3\x80", "😀"})
    EXPECT_FALSE(is_invisible(text)) << text;
}

}  // namespace
}  // namespace agw
