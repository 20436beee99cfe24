#include <gtest/gtest.h>

#include "features/jobs/triggers.hpp"

namespace agw {
namespace {

// The example of GitHub's documentation.
constexpr auto body = "Hello, World!";
constexpr auto secret = "It's a Secret to Everybody";
constexpr auto signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

TEST(WebhookSignature, IsThatOfTheBodyUnderTheSecret) { EXPECT_TRUE(is_signed(body, secret, signature)); }

TEST(WebhookSignature, IsRefusedIfAnythingDiffers) {
  EXPECT_FALSE(is_signed("Hello, World?", secret, signature));
  EXPECT_FALSE(is_signed(body, "another", signature));
  EXPECT_FALSE(is_signed(body, secret, std::nullopt));
  EXPECT_FALSE(is_signed(body, secret, ""));
  EXPECT_FALSE(is_signed(body, secret, std::string(signature).substr(7)));
  EXPECT_FALSE(is_signed(body, secret, std::string(signature) + "0"));
}

}  // namespace
}  // namespace agw
