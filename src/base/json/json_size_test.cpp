#include "base/json/json_size.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(JsonSize, IsAboutTheLengthOfTheText) {
  const auto value = *parse_json(R"({"name":"reader","tags":["a","bc"],"limits":{"turns":1000,"open":true}})");
  const auto text = to_json(value);
  EXPECT_NEAR(static_cast<double>(json_size(value, 1000)), static_cast<double>(text.size()), 8);
}

TEST(JsonSize, StopsCountingWhenThereIsEnough) {
  json::array list;
  for (int number = 0; number < 100'000; ++number) list.emplace_back("ten bytes.");
  EXPECT_GE(json_size(list, 1000), 1000);
  EXPECT_LT(json_size(list, 1000), 1100);
  EXPECT_GE(json_size(json::array{list, list}, 1000), 1000);
}

}  // namespace
}  // namespace agw
