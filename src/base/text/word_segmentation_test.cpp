#include "base/text/word_segmentation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Unspaced, KnowsTheScriptsThatNeedNoBlanks) {
  for (const auto* text : {"東京", "とうきょう", "トウキョウ", "서울", "กรุงเทพ", "python入門", "𠀋"}) {
    EXPECT_TRUE(has_unsegmented_script(text)) << text;
  }
  for (const auto* text : {"", "word", "Größe", "слово", "λόγος", "…", "、", "\xff", "\xe6\x9d"}) {
    EXPECT_FALSE(has_unsegmented_script(text)) << text;
  }
}

TEST(Unspaced, AScriptEndsWhereAnotherBeginsWithoutABlank) {
  EXPECT_EQ(split_by_script("これはPython3入門です"), (Parts{"これは", "Python3", "入門です"}));
  EXPECT_EQ(split_by_script("京3Dの4K"), (Parts{"京", "3D", "の", "4K"}));
  EXPECT_EQ(split_by_script("Docker는 3D, ЖА京λ"), (Parts{"Docker", "는 3D, ЖА", "京", "λ"}));
  EXPECT_EQ(split_by_script("Ｐｙｔｈｏｎ入門"), (Parts{"Ｐｙｔｈｏｎ", "入門"}));
  EXPECT_EQ(split_by_script("a⺀ – b⿟"), (Parts{"a", "⺀ – b", "⿟"}));
  for (const auto* text : {"", "plain", "größer", "佐々木", "京 3D", "3D 京", "5×3京", "2024年の予定", "か\u3099", "é",
                           "…“ok”", "\xff\xe6\x9d"}) {
    EXPECT_EQ(fmt::format("{}", fmt::join(split_by_script(text), "|")), text);
  }
  EXPECT_EQ(with_word_breaks("a京"), "a\u200b京");
}

TEST(Unspaced, SignsDivideATextAndNothingElse) {
  EXPECT_EQ(split_by_punctuation("東京、大阪？"), (Parts{"東京", "大阪"}));
  EXPECT_EQ(split_by_punctuation("佐々木"), Parts{"佐々木"});
  EXPECT_EQ(split_by_punctuation("plain"), Parts{"plain"});
  EXPECT_EQ(split_by_punctuation("。！"), Parts{});
  EXPECT_EQ(split_by_punctuation(""), Parts{});
}

}  // namespace
}  // namespace agw
