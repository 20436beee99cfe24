#include "cli/output/qr_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agw::cli {
namespace {

TEST(QrCodeTest, ModulesAreDrawnInHalfBlocksWithinALightBorder) {
  const auto drawn = draw({{true, false}, {false, true}}, {});
  EXPECT_EQ(drawn,
            "██████████\n"
            "██████████\n"
            "████▄▀████\n"
            "██████████\n"
            "██████████\n");
}

TEST(QrCodeTest, ColoursAreSetWhereTheTerminalHasThem) {
  const auto drawn = draw({{true}}, {.present = true, .colours = true});
  EXPECT_THAT(drawn, ::testing::StartsWith("\x1b[97;40m██"));
  EXPECT_THAT(drawn, ::testing::EndsWith("██\x1b[0m\n"));
}

TEST(QrCodeTest, ATextBecomesASquareWithItsThreeFinders) {
  const auto modules = qr_modules("http://127.0.0.1:7420/ui/#code=123456");
  ASSERT_TRUE(modules);
  const auto last = modules->size() - 1;
  EXPECT_GE(modules->size(), 21u);
  for (const auto& row : *modules) EXPECT_EQ(row.size(), modules->size());
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_TRUE((*modules)[0][i]);
    EXPECT_TRUE((*modules)[0][last - i]);
    EXPECT_TRUE((*modules)[last][i]);
  }
}

}  // namespace
}  // namespace agw::cli
