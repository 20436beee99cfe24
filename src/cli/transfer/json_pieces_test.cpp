#include "cli/transfer/json_pieces.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace agw::cli {

namespace {

ByteSource in_pieces(std::string text, std::size_t size) {
  auto rest = std::make_shared<std::pair<std::string, std::size_t>>(std::move(text), 0);
  return [rest, size] {
    const auto piece = std::string_view(rest->first).substr(rest->second, size);
    rest->second += piece.size();
    return piece;
  };
}

std::vector<std::string> elements_of(JsonElements& elements) {
  std::vector<std::string> found;
  for (std::string element; elements.next(element);) found.push_back(element);
  return found;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST(SourceJson, HasWholeCharacters) {
  const auto text_in = [](std::string_view json, std::size_t count) {
    std::size_t replaced = 0;
    const auto value = parse_source_json(json, replaced);
    EXPECT_EQ(replaced, count) << json;
    return value ? to_json(*value) : "";
  };
  EXPECT_EQ(text_in(R"(["a\ud800","\ude00\ud83d","\ud83d\ude00"])", 3),
            "[\"a\uFFFD\",\"\uFFFD\uFFFD\",\"\U0001F600\"]");
  EXPECT_EQ(text_in(R"(["\ud800\ud83d\ude00\\ud800\"","\ud8"])", 0), "");
  EXPECT_EQ(text_in(R"(["\ud800\ud83d\ude00\\ud800\""])", 1), "[\"\uFFFD\U0001F600\\\\ud800\\\"\"]");
  EXPECT_EQ(text_in("[\"\xff\", \"\uFFFD\"]", 1), "[\"\uFFFD\",\"\uFFFD\"]");
  EXPECT_EQ(text_in(R"(["\ud800")", 0), "");
}

TEST(JsonElements, AreCutFromPiecesOfAnySize) {
  const std::string text = R"( [ {"a":"]}\"\\"},{"b":[1,{"c":"[{"}]} ,7,"x,]", null] )";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    JsonElements elements(in_pieces(text, size), 100);
    EXPECT_EQ(elements_of(elements), (Texts{R"({"a":"]}\"\\"})", R"({"b":[1,{"c":"[{"}]})", "7", R"("x,]")", "null"}));
    EXPECT_FALSE(elements.is_truncated());
  }
}

TEST(JsonElements, OfAnObjectAreItself) {
  JsonElements elements(in_pieces(R"({"a":[1,2]})", 3), 100);
  EXPECT_EQ(elements_of(elements), (Texts{R"({"a":[1,2]})"}));
  EXPECT_FALSE(elements.is_truncated());
}

TEST(JsonElements, ThatAreTooLargeAreSkipped) {
  JsonElements elements(in_pieces(R"([{"a":"0123456789"},{"b":1}])", 4), 10);
  EXPECT_EQ(elements_of(elements), (Texts{R"({"b":1})"}));
  EXPECT_EQ(elements.too_large(), 1u);
}

TEST(JsonElements, OfATruncatedTextAreTheCompleteOnes) {
  const std::string text = R"([{"a":1},{"b":"x"}])";
  for (std::size_t size = 1; size < text.size(); ++size) {
    JsonElements elements(in_pieces(text.substr(0, size), 5), 100);
    const auto found = elements_of(elements);
    EXPECT_TRUE(elements.is_truncated()) << size;
    EXPECT_LE(found.size(), 2u);
  }
}

TEST(JsonElements, EndAtInvalidJson) {
  for (const auto* text : {"", "   ", "]", "}", "]]]", "[}", "PK\x03\x04", "[[[[", "\"", "[\"\\"}) {
    JsonElements elements(in_pieces(text, 1), 10);
    EXPECT_LE(elements_of(elements).size(), 4u) << text;
  }
}

TEST(TextLines, AreCutFromPiecesOfAnySize) {
  for (std::size_t size = 1; size < 20; ++size) {
    TextLines lines(in_pieces("one\r\n\ntwo\n0123456789\nthree", size), 6);
    Texts found;
    for (std::string line; lines.next(line);) found.push_back(line);
    EXPECT_EQ(found, (Texts{"one", "two", "three"}));
    EXPECT_EQ(lines.too_large(), 1u);
  }
}

}  // namespace agw::cli
