#include "features/apps/plan.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::optional<int> port_of(const json::value& port) {
  Extension extension;
  extension.definition = Definition({{"path", "/srv/site"}, {"command", "npm start"}, {"port", port}});
  return app_plan(extension).port;
}

TEST(AppPlan, TakesAPortThatIsAWholeNumber) {
  EXPECT_EQ(port_of(8000), 8000);
  EXPECT_EQ(port_of(8000.0), 8000);
  EXPECT_EQ(port_of(65535), 65535);
  EXPECT_EQ(port_of(nullptr), std::nullopt);
}

TEST(AppPlan, TakesAPortThatCannotBeForNone) {
  for (const int port : {-8000, 0, 65536}) EXPECT_EQ(port_of(port), std::nullopt) << port;
}

}  // namespace
}  // namespace agw
