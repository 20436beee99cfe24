#include "models/utf8_decoder.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

const std::string replacement = "\xef\xbf\xbd";

/// Decodes `pieces`.
std::string read(std::initializer_list<std::string_view> pieces) {
  Utf8Decoder reader;
  std::string text;
  for (const auto piece : pieces) text += reader.add(piece);
  return text + reader.finish();
}

TEST(Utf8Decoder, PutsACharacterTogetherWhereverItIsCut) {
  const std::string_view text = "aé€😀z";
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      EXPECT_EQ(read({text.substr(0, first), text.substr(first, second - first), text.substr(second)}), text);
    }
  }
}

TEST(Utf8Decoder, KeepsOnlyWhatIsNotWhole) {
  Utf8Decoder reader;
  EXPECT_EQ(reader.add("ab\xf0\x9f"), "ab");
  EXPECT_EQ(reader.add("\x98"), "");
  EXPECT_EQ(reader.add("\x80€"), "😀€");
  EXPECT_EQ(reader.finish(), "");
}

TEST(Utf8Decoder, JoinsTheHalvesOfASurrogatePair) {
  const auto high = encode_surrogate(0xd83d);
  const auto low = encode_surrogate(0xde00);
  EXPECT_EQ(read({"a" + high, low + "b"}), "a😀b");
  EXPECT_EQ(read({high + low.substr(0, 1), low.substr(1)}), "😀");
  EXPECT_EQ(read({high, high, low}), replacement + "😀");
  EXPECT_EQ(read({high, "b"}), replacement + "b");
  EXPECT_EQ(read({"a", low}), "a" + replacement);
}

TEST(Utf8Decoder, ReplacesACharacterWithoutEnd) {
  EXPECT_EQ(read({"a\xf0\x9f", "b"}), "a" + replacement + replacement + "b");
  EXPECT_EQ(read({"a\xf0\x9f\x98"}), "a" + replacement);
  EXPECT_EQ(read({"a", encode_surrogate(0xd83d)}), "a" + replacement);
  EXPECT_EQ(read({"\xff", "\x80"}), replacement + replacement);
}

}  // namespace
}  // namespace agw
