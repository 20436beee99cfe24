#include "base/sha256.hpp"

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

TEST(Hex, HasTwoLowerCaseDigitsForEachByte) { EXPECT_EQ(to_hex(std::string_view("\0\x7f\xff", 3)), "007fff"); }

}  // namespace
}  // namespace agw
