#include "models/wire_format.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string parts_shown(const Message& message) {
  std::string text;
  for (const auto& part : parts_of(message)) {
    const auto* piece = std::get_if<std::string_view>(&part);
    text += piece ? "[" + std::string(*piece) + "]" : "<" + std::get<const Image*>(part)->bytes + ">";
  }
  return text;
}

TEST(WireFormat, KeepsTheOrderOfTextsAndImages) {
  Message message{.text = "First\n\nSecond"};
  message.images = {{.mime = "image/png", .bytes = "a"}, {.mime = "image/png", .bytes = "b", .text_before = 5}};
  EXPECT_EQ(parts_shown(message), "<a>[First]<b>[Second]");
  message.images[0].text_before = 999;
  EXPECT_EQ(parts_shown(message), "[First\n\nSecond]<a><b>");
  EXPECT_EQ(parts_shown({.text = " \n"}), "");
}

TEST(WireFormat, DescribesExamplesInWords) {
  const ToolDescription tool{.name = "f", .description = "d", .examples = {json::object{{"a", 1}}}};
  EXPECT_EQ(description_with_examples(tool), "d\nExample of its input: {\"a\":1}");
}

}  // namespace
}  // namespace agw
