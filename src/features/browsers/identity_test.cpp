#include "features/browsers/identity.hpp"

#include <gtest/gtest.h>

#include "base/json/json_values.hpp"

namespace agw {
namespace {

std::string brands(std::string_view product, std::string_view list) {
  return to_json(ordinary_identity(product)["userAgentMetadata"].as_object()[list]);
}

TEST(BrowserIdentity, IsThatOfAnOrdinaryChromium) {
  EXPECT_EQ(string_or_empty(ordinary_identity("HeadlessChrome/156.0.8078.108"), "userAgent"),
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36");
  EXPECT_EQ(brands("HeadlessChrome/156.0.8078.108", "brands"),
            R"([{"brand":"Not:A-Brand","version":"8"},{"brand":"Chromium","version":"156"}])");
  EXPECT_EQ(brands("HeadlessChrome/156.0.8078.108", "fullVersionList"),
            R"([{"brand":"Not:A-Brand","version":"8.0.0.0"},{"brand":"Chromium","version":"156.0.8078.108"}])");
}

TEST(BrowserIdentity, HasTheMadeUpBrandOfItsVersion) {
  EXPECT_EQ(brands("Chrome/131.0.6778.85", "brands"),
            R"([{"brand":"Chromium","version":"131"},{"brand":"Not_A Brand","version":"24"}])");
}

TEST(BrowserIdentity, IsEmptyWithoutAVersion) {
  EXPECT_TRUE(ordinary_identity("").empty());
  EXPECT_TRUE(ordinary_identity("HeadlessChrome").empty());
  EXPECT_TRUE(ordinary_identity("HeadlessChrome/new").empty());
}

}  // namespace
}  // namespace agw
