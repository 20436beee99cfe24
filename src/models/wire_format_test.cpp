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

TEST(WireFormat, RemindsAsUserWithoutReadingThoughtsOfPrograms) {
  const json::object thoughts{{"type", "reasoning"}, {"role", "developer"}, {"content", json::array()}};
  json::array items{json::object{{"role", "user"}, {"content", "Hi"}}, thoughts,
                    json::object{{"role", "developer"}, {"content", "It is noon."}}};
  EXPECT_TRUE(remind_as_user(items));
  EXPECT_EQ(items[1], json::value(thoughts));
  EXPECT_EQ(items[2].at("role"), "user");
}

}  // namespace
}  // namespace agw
