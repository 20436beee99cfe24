#include "features/browsers/page_element.hpp"

#include <gtest/gtest.h>

#include "api/error.hpp"

namespace agw {
namespace {

TEST(PageElement, IsAskedForAtAPlace) { EXPECT_TRUE(element_at(1.5, -2).ends_with("})(1.5, -2)")); }

TEST(PageElement, IsShortened) {
  std::string long_text;
  for (int i = 0; i < 2'001; ++i) long_text += "ü";
  const auto message = inspected_message({{"selector", "#save"}, {"text", long_text}, {"html", long_text}, {"x", 1.4}});
  EXPECT_EQ(message.at("type"), "inspected");
  EXPECT_EQ(message.at("selector"), "#save");
  EXPECT_EQ(message.at("text").as_string().size(), 199 * 2 + std::string_view("…").size());
  EXPECT_EQ(message.at("html").as_string().size(), 1'999 * 2 + std::string_view("…").size());
  EXPECT_TRUE(message.at("html").as_string().ends_with("ü…"));
  EXPECT_EQ(message.at("x"), 1.0);
}

TEST(PageElement, MayBeAnything) {
  const auto message = inspected_message(
      {{"selector", 1}, {"tag", json::array{"a"}}, {"html", nullptr}, {"x", "left"}, {"y", -1e300}, {"more", "x"}});
  EXPECT_EQ(message, (json::object{{"type", "inspected"},
                                   {"selector", ""},
                                   {"tag", ""},
                                   {"text", ""},
                                   {"html", ""},
                                   {"x", 0.0},
                                   {"y", -100'000.0},
                                   {"width", 0.0},
                                   {"height", 0.0}}));
  EXPECT_THROW(inspected_message(nullptr), NotFound);
  EXPECT_THROW(inspected_message("element"), NotFound);
}

}  // namespace
}  // namespace agw
