#include "base/json/json_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const json::object from_outside{{"object", json::object{{"a", 1}}},
                                {"array", json::array{"one", 2, "three", nullptr}},
                                {"yes", true},
                                {"no", false},
                                {"text", "true"}};

TEST(JsonMember, IsFoundOnlyWithItsType) {
  EXPECT_TRUE(object_member(from_outside, "object")->contains("a"));
  EXPECT_EQ(object_member(from_outside, "array"), nullptr);
  EXPECT_EQ(object_member(from_outside, "absent"), nullptr);
  EXPECT_EQ(array_member(from_outside, "array")->size(), 4);
  EXPECT_EQ(array_member(from_outside, "object"), nullptr);
  EXPECT_TRUE(object_or_empty(from_outside, "object").contains("a"));
  EXPECT_TRUE(object_or_empty(from_outside, "text").empty());
}

TEST(JsonMember, IsTrueOnlyAsTheValueTrue) {
  EXPECT_TRUE(is_true(from_outside, "yes"));
  for (const auto* name : {"no", "text", "object", "absent"}) EXPECT_FALSE(is_true(from_outside, name)) << name;
}

TEST(JsonMember, GivesTheTextsOfAList) {
  EXPECT_THAT(strings_of(from_outside, "array"), ElementsAre("one", "three"));
  EXPECT_THAT(strings_of(from_outside, "text"), IsEmpty());
}

}  // namespace
}  // namespace agw
