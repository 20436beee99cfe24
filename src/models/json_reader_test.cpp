#include "models/json_reader.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace agw {
namespace {

/// The member `t` of the object.
std::string text_of(std::string_view given) {
  const auto object = parse_object(given);
  return object ? std::string(text_member(*object, "t")) : "none";
}

TEST(ParseObject, ReplacesHalvesOfSurrogatePairs) {
  EXPECT_EQ(text_of(R"({"t":"\ud83d\ude00"})"), "😀");
  EXPECT_EQ(text_of(R"({"t":"a\ud83d"})"), "a\xef\xbf\xbd");
  EXPECT_EQ(text_of(R"({"t":"\uDE00b"})"),
            "\xef\xbf\xbd"
            "b");
  EXPECT_EQ(text_of(R"({"t":"\ud83d\ud83d\ude00"})"), "\xef\xbf\xbd😀");
  EXPECT_EQ(text_of(R"({"t":"\\ud83d \ude00"})"), "\\ud83d \xef\xbf\xbd");
}

TEST(ParseObject, ReplacesBytesThatAreNoUtf8) { EXPECT_EQ(text_of("{\"t\":\"a\xff\"}"), "a\xef\xbf\xbd"); }

TEST(ParseObject, RefusesWhatIsNoObject) {
  for (const auto* text : {"", "[]", "3", "{", "{\"t\":1e400}", "{\"t\":\"\\u12\"}", "{\"t\":\"\\"}) {
    EXPECT_EQ(text_of(text), "none") << text;
  }
}

TEST(ParseObject, TakesNoTimeForWhatHasNotEnded) {
  const auto time_of = [](const std::string& text, int times) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) EXPECT_EQ(parse_object(text).has_value(), text.ends_with('}'));
    return std::chrono::steady_clock::now() - begin;
  };
  const auto begun = R"({"text": ")" + std::string(1'000'000, 'a');
  EXPECT_LT(time_of(begun, 1'000), time_of(begun + "\"}", 100));
}

TEST(CountMember, IsBoundedSoThatSumsAreNumbers) {
  const auto count = [](std::string_view text) { return count_member(*parse_object(text), "n"); };
  EXPECT_EQ(count(R"({"n":9223372036854775807})"), max_count);
  EXPECT_EQ(count(R"({"n":-1})"), 0);
  EXPECT_EQ(count(R"({"n":1.5})"), std::nullopt);
}

TEST(ParseCutFrame, KeepsTheBytesOfCutCharacters) {
  const auto text = [](std::string_view frame) {
    const auto object = parse_stream_frame(frame);
    return object ? std::string(text_member(*object, "t")) : "none";
  };
  EXPECT_EQ(text(R"({"t":"a\ud83d"})"), "a\xed\xa0\xbd");
  EXPECT_EQ(text("{\"t\":\"a\xf0\x9f\"}"), "a\xf0\x9f");
  EXPECT_EQ(text("{\"t\":\"\x98\x80\"}"), "\x98\x80");
  EXPECT_EQ(text(R"({"t":"\ud83d\ude00"})"), "😀");
  for (const auto* frame : {"", "[]", "{\"t\":\"\xf0\"", "{\"t\":\"\xf0\",\"n\":1e400}", "{\xf0:1}"}) {
    EXPECT_EQ(text(frame), "none") << frame;
  }
}

TEST(FormatJson, IsNotReadWhereItWouldTakeLong) {
  const auto object_of = [](std::size_t values) {
    std::string text = "{\"a\":[1";
    for (std::size_t i = 1; i < values; ++i) text += ",1";
    return text + "]}";
  };
  EXPECT_TRUE(parse_object(object_of(400'000)));
  EXPECT_FALSE(parse_object(object_of(600'000)));
  EXPECT_TRUE(parse_stream_frame(object_of(400'000)));
  EXPECT_FALSE(parse_stream_frame(object_of(600'000)));
}

}  // namespace
}  // namespace agw
