#include "cli/output/table.hpp"

#include <gtest/gtest.h>

namespace agw::cli {
namespace {

TEST(Table, PutsColumnsOneBelowTheOther) {
  EXPECT_EQ(table({{"ID", "TITLE"}, {"1", "short"}, {"long-id", "x"}}),
            "ID       TITLE\n"
            "1        short\n"
            "long-id  x\n");
}

TEST(Table, CountsCharactersAndNotBytes) {
  EXPECT_EQ(table({{"äö", "a"}, {"xyz", "b"}}),
            "äö   a\n"
            "xyz  b\n");
}

}  // namespace
}  // namespace agw::cli
