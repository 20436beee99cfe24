#include "cli/client/client.hpp"

#include <gtest/gtest.h>

namespace agw::cli {
namespace {

TEST(Path, EncodesWhatPeopleType) {
  EXPECT_EQ(path({"threads", "a/../b?c#d e"}), "/threads/a%2F..%2Fb%3Fc%23d%20e");
  EXPECT_EQ(path({"turns", "search"}, {{"q", "\"a b\" & c=d+e"}}), "/turns/search?q=%22a%20b%22%20%26%20c%3Dd%2Be");
}

TEST(Path, LeavesOutParametersWithoutAValue) {
  EXPECT_EQ(path({"threads"}, {{"agent_id", std::nullopt}, {"limit", "5"}, {"archived", std::nullopt}}),
            "/threads?limit=5");
  EXPECT_EQ(path({"threads"}, {{"agent_id", std::nullopt}}), "/threads");
}

}  // namespace
}  // namespace agw::cli
