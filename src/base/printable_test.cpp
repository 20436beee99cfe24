#include "base/printable.hpp"

#include <gtest/gtest.h>

#include "base/json/json.hpp"

namespace agw {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  for (const std::string text : {"", "hello\n\tworld", "Grüße, 世界 🎉", "a\\b", "\u00a0\u200b\u2029\u2065\u206a"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, ShowsControlCharacters) {
  EXPECT_EQ(printable("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
  EXPECT_EQ(printable("a\r\nb\x7f"), "a\\x0d\nb\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(Printable, ShowsControlCharactersOfTheUpperHalf) {
  EXPECT_EQ(printable("\u0080\u009b31m\u009f"), "\\u0080\\u009b31m\\u009f");
}

TEST(Printable, ShowsBidirectionalControls) {
  EXPECT_EQ(printable("\u202a\u202b\u202c\u202d\u202e"), "\\u202a\\u202b\\u202c\\u202d\\u202e");
  EXPECT_EQ(printable("\u2066\u2067\u2068\u2069"), "\\u2066\\u2067\\u2068\\u2069");
}

TEST(Printable, PassesOnNoInvalidUtf8) {
  EXPECT_EQ(printable("a\x9b"
                      "31m"),
            "a\ufffd31m");
}

TEST(PrintableJson, EscapesTerminalControlsWithoutChangingTheValue) {
  const std::string json = "{\"t\\u001b\":\"\u009b31m \u202eevil\u2069 \x7f Gr\u00fc\u00dfe\\n\"}";
  const auto printed = printable_json(json);
  EXPECT_EQ(printed, "{\"t\\u001b\":\"\\u009b31m \\u202eevil\\u2069 \\u007f Gr\u00fc\u00dfe\\n\"}");
  EXPECT_EQ(parse_json(printed), parse_json(json));
}

TEST(OneLine, JoinsLines) { EXPECT_EQ(one_line("  a\n\n\tb \r\n c\x1b "), "a b c\\x1b"); }

TEST(OneLine, CutsAtACharacter) {
  EXPECT_EQ(one_line("äöüß", 4), "äöüß");
  EXPECT_EQ(one_line("äöüß!", 4), "äöü…");
}

}  // namespace
}  // namespace agw
