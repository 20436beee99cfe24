#include "storage/postgres/text_encoding.hpp"

#include <random>

#include <gtest/gtest.h>

namespace agw::postgres {
namespace {

using namespace std::string_literals;

TEST(TextEncodingTest, LeavesTextAlone) {
  for (const auto& text : {""s, "text"s, "\u00e4\u20ac\U0001f600"s, "\u0100"s}) {
    EXPECT_FALSE(needs_encoding(text));
    EXPECT_EQ(decoded(text), text);
  }
}

TEST(TextEncodingTest, EncodesWhatPostgresRefuses) {
  for (const auto& text : {"a\0b"s, "\xff"s, "\xc0\x80"s, "\xed\xa0\x80"s, "\xe2\x82"s, "\xf4\x90\x80\x80"s}) {
    ASSERT_TRUE(needs_encoding(text));
    EXPECT_EQ(encoded(text).find('\0'), std::string::npos);
    EXPECT_TRUE(may_be_encoded(encoded(text)));
    EXPECT_EQ(decoded(encoded(text)), text);
  }
}

TEST(TextEncodingTest, WhatLooksEncodedComesBackAsItWas) {
  const auto once = encoded("\0"s);
  EXPECT_EQ(decoded(encoded(once)), once);
  EXPECT_EQ(decoded(encoded("\U0010ffff")), "\U0010ffff");
}

TEST(TextEncodingTest, AnyBytesComeBack) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same texts in every run
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 12, ' ');
    for (auto& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() % 128 : 128 + random() % 128);
    EXPECT_EQ(decoded(needs_encoding(bytes) ? encoded(bytes) : bytes), bytes);
  }
}

}  // namespace
}  // namespace agw::postgres
