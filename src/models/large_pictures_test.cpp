#include "models/large_pictures.hpp"

#include <string>

#include <gtest/gtest.h>

#include "models/wire_format.hpp"

namespace agw {
namespace {

using namespace std::string_literals;

json::object request_with(int count, const std::string& bytes) {
  json::object request{{"messages", json::array()}};
  for (int i = 0; i < count; ++i) {
    const json::object picture{
        {"type", "image"}, {"source", json::object{{"data", base64(bytes)}}}, {"cache_control", 1}};
    request["messages"].get_array().push_back(json::object{{"content", json::array{picture}}});
  }
  return request;
}

std::string first_block(json::object& request) {
  return to_json(request["messages"].get_array().front().get_object()["content"].get_array().front());
}

const auto wide = "GIF89a\x41\x1f\x01\0"s;
const auto medium = "GIF89a\xd1\x07\x01\0"s;

TEST(LargePictures, AreReplaced) {
  auto request = request_with(1, wide);
  EXPECT_TRUE(leave_out_large_pictures(request));
  EXPECT_EQ(first_block(request),
            R"x({"type":"text","cache_control":1,"text":"(A picture is left out, because the model cannot see it: )x"
            R"x(it has 8001 pixels on one side, more than 8000.)"})x");
  EXPECT_FALSE(leave_out_large_pictures(request));
  auto large = request_with(1, std::string(4'000'000, 'x'));
  EXPECT_TRUE(leave_out_large_pictures(large));
  EXPECT_NE(first_block(large).find("6 MB, more than 5"), std::string::npos);
}

TEST(LargePictures, AreSmallerIfThereAreMany) {
  auto few = request_with(20, medium);
  EXPECT_FALSE(leave_out_large_pictures(few));
  auto many = request_with(21, medium);
  EXPECT_TRUE(leave_out_large_pictures(many));
  EXPECT_NE(first_block(many).find("2001 pixels on one side, more than 2000"), std::string::npos);
}

}  // namespace
}  // namespace agw
