#include "base/json/shared_json.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(SharedJson, IsNotCopied) {
  const SharedJson schema = json::object{{"type", "object"}};
  SharedJson copy;
  copy = schema;
  EXPECT_EQ(to_json(*copy), R"({"type":"object"})");
  EXPECT_EQ(&*copy, &*schema);
}

TEST(SharedJson, KnowsTheLengthOfItsText) {
  const SharedJson schema = json::object{{"type", "object"}};
  EXPECT_EQ(schema.text_size(), 17u);
  EXPECT_EQ(schema.text_size(), 17u) << "also the second time";
}

TEST(SharedJson, IsNullWithoutAValue) {
  const SharedJson nothing;
  EXPECT_TRUE(nothing->is_null());
  EXPECT_EQ(nothing.text_size(), 4u);
}

}  // namespace
}  // namespace agw
