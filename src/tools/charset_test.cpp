#include "tools/charset.hpp"

#include <string>

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(Charset, IsThatOfTheMarkOrTheContentTypeOrOneThatFits) {
  EXPECT_EQ(text_to_utf8("caf\xE9", "text/plain; charset=ISO-8859-1"), "café");
  EXPECT_EQ(text_to_utf8("caf\xE9", "text/plain"), "café");
  EXPECT_EQ(text_to_utf8("café", "text/plain"), "café");
  EXPECT_EQ(text_to_utf8("\xEF\xBB\xBFx", "text/plain; charset=utf-16"), "x");
  EXPECT_EQ(text_to_utf8(std::string_view("\xFF\xFEx\0", 4), ""), "x");
  EXPECT_EQ(text_to_utf8("a\xFF", "text/plain; charset=no-such"), "a\xEF\xBF\xBD");
}

TEST(Charset, OfALargerSetIsOftenDeclaredAsASmallerOne) {
  EXPECT_EQ(text_to_utf8("\xD6\xEC\xE9\x46\xBB\xF9", "text/plain; charset=gb2312"), "朱镕基");
  EXPECT_EQ(text_to_utf8("\x8C\x63\xB9\xE6", "text/plain; charset=ks_c_5601-1987"), "똠방");
  EXPECT_EQ(text_to_utf8("\x87\x40", "text/plain; charset=Shift_JIS"), "①");
  EXPECT_EQ(text_to_utf8("\x93x\x94", "text/plain; charset=iso-8859-9"), "“x”");
  EXPECT_EQ(text_to_utf8("\xA1\x93", "text/plain; charset=tis-620"), "ก“");
  for (const auto* declared : {"us-ascii", "unknown-8bit"}) {
    const auto type = std::string("text/plain; charset=") + declared;
    EXPECT_EQ(text_to_utf8("café", type), "café");
    EXPECT_EQ(text_to_utf8("caf\xE9", type), "café");
  }
}

TEST(Charset, OfAPageMayBeSaidInItsMeta) {
  constexpr auto page = "<meta charset='shift_jis'>\x93\xFA";
  EXPECT_EQ(html_to_utf8(page, "text/html"), "<meta charset='shift_jis'>日");
  EXPECT_EQ(html_to_utf8("<meta charset='shift_jis'>日", "text/html; charset=utf-8"), "<meta charset='shift_jis'>日");
  EXPECT_EQ(text_to_utf8(page, "Text/HTML"), "<meta charset='shift_jis'>日");
  EXPECT_EQ(text_to_utf8(page, "application/xhtml+xml"), "<meta charset='shift_jis'>日");
}

TEST(Charset, IsNotWhatATextSaysOfAnother) {
  constexpr auto text = "It sent `Content-Type: text/html; charset=iso-8859-1` for café.";
  EXPECT_EQ(text_to_utf8(text, "text/plain"), text);
  EXPECT_EQ(text_to_utf8(text, "application/json"), text);
}

TEST(Charset, IsNamedByAContentType) {
  EXPECT_TRUE(declares_charset("Text/Plain; Charset=\"utf-8\""));
  EXPECT_FALSE(declares_charset("text/plain"));
  EXPECT_FALSE(declares_charset("text/plain; charset="));
}

}  // namespace
}  // namespace agw
