#include "cli/transfer/importer.hpp"

#include <gtest/gtest.h>

namespace agw::cli {

TEST(ExtensionNames, AreMadeFromAnyText) {
  EXPECT_EQ(extension_name_from("Fix Issue", "x"), "fix-issue");
  EXPECT_EQ(extension_name_from("--a__b/c.d--", "x"), "a-b-c-d");
  EXPECT_EQ(extension_name_from("Ünïcode", "x"), "n-code");
  EXPECT_EQ(extension_name_from("日本", "otherwise"), "otherwise");
  EXPECT_EQ(extension_name_from("", "otherwise"), "otherwise");
  EXPECT_EQ(extension_name_from(std::string(1000, 'a'), "x").size(), 48u);
  EXPECT_EQ(extension_name_from("01890000-0000-7000-8000-000000000000", "otherwise"), "otherwise");
}

}  // namespace agw::cli
