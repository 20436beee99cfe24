#include "base/digest.hpp"

#include <initializer_list>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(Sha256, HasTheStandardsExamples) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, IsTheSameForPiecesAndGoesOnAfterADigest) {
  Sha256 pieces;
  pieces.update("a");
  EXPECT_EQ(pieces.digest(), sha256("a"));
  pieces.update("bc");
  EXPECT_EQ(pieces.digest(), sha256("abc"));
}

TEST(Secrets, AreEqualOnlyInLengthAndEveryByte) {
  EXPECT_TRUE(are_equal_secrets("open sesame", "open sesame"));
  EXPECT_TRUE(are_equal_secrets("", ""));
  EXPECT_FALSE(are_equal_secrets("open sesame", "open sesamE"));
  EXPECT_FALSE(are_equal_secrets("open sesame", "open sesam"));
  EXPECT_FALSE(are_equal_secrets("", "x"));
}

TEST(Hex, HasTwoLowerCaseDigitsForEachByte) { EXPECT_EQ(to_hex(std::string_view("\0\x7f\xff", 3)), "007fff"); }

TEST(Base64Url, WritesAndReadsEveryLength) {
  for (const auto& [plain, text] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", ""}, {"f", "Zg"}, {"fo", "Zm8"}, {"foo", "Zm9v"}, {"foob", "Zm9vYg"}, {"\xff\xef\xbe", "_---"}}) {
    EXPECT_EQ(to_base64url(plain), text);
    EXPECT_EQ(from_base64url(text), plain);
  }
  EXPECT_EQ(from_base64url("Zg=="), "f");
  EXPECT_EQ(from_base64url("Zm8="), "fo");
}

TEST(Base64Url, RefusesNonCanonicalEncodings) {
  for (const std::string_view text : {"Z", "Zm9vY", "Zh", "Zm9=", "Zm+v", "Zm/v", "Zm 9v", "====", "Zg=", "Zg==="})
    EXPECT_FALSE(from_base64url(text)) << text;
}

}  // namespace
}  // namespace agw
