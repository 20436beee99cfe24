#include "base/unspaced.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Unspaced, KnowsTheScriptsThatNeedNoBlanks) {
  for (const auto* text : {"東京", "とうきょう", "トウキョウ", "서울", "กรุงเทพ", "python入門", "𠀋"}) {
    EXPECT_TRUE(has_unspaced(text)) << text;
  }
  for (const auto* text : {"", "word", "Größe", "слово", "λόγος", "…", "、", "\xff", "\xe6\x9d"}) {
    EXPECT_FALSE(has_unspaced(text)) << text;
  }
}

TEST(Unspaced, SignsDivideATextAndNothingElse) {
  EXPECT_EQ(between_signs("東京、大阪？"), (Parts{"東京", "大阪"}));
  EXPECT_EQ(between_signs("佐々木"), Parts{"佐々木"});
  EXPECT_EQ(between_signs("plain"), Parts{"plain"});
  EXPECT_EQ(between_signs("。！"), Parts{});
  EXPECT_EQ(between_signs(""), Parts{});
}

}  // namespace
}  // namespace agw
