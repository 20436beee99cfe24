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

TEST(CountText, HasASingularForOneOnly) {
  EXPECT_EQ(count_text(0, "thread", "threads"), "0 threads");
  EXPECT_EQ(count_text(1, "thread", "threads"), "1 thread");
  EXPECT_EQ(count_text(2, "thread", "threads"), "2 threads");
}

}  // namespace
}  // namespace agw::cli
