#include <gtest/gtest.h>

#include "base/text/utf8.hpp"

namespace agw {
namespace {

TEST(LowerCase, LowersLettersInAnyLocale) {
  EXPECT_EQ(lower_case("ABC xyz 019"), "abc xyz 019");
  EXPECT_EQ(lower_case("ÀÉÖØÞß×÷ÿŸ"), "àéöøþß×÷ÿÿ");
  EXPECT_EQ(lower_case("ĀĄČĞŁŃŒŘŠŻŽ"), "āąčğłńœřšżž");
  EXPECT_EQ(lower_case("ΆΈΌΎΩΣΑΒ"), "άέόύωσαβ");
  EXPECT_EQ(lower_case("ЖЩЯЁЄЇҐ"), "жщяёєїґ");
  EXPECT_EQ(lower_case("ẾỆ 日本 😀"), "ếệ 日本 😀");
}

TEST(LowerCase, LeavesOutWhatIsNoText) { EXPECT_EQ(lower_case("A\xff\xc3"), "a"); }

}  // namespace
}  // namespace agw
