#include "cli/list.hpp"

#include <gtest/gtest.h>

namespace agw::cli {
namespace {

const std::vector<Column> columns = {text_column("ID", "id"), text_column("TURNS", "turn_count"),
                                     text_column("TITLE", "title")};

TEST(List, ShowsRecordsAsRows) {
  const json::value threads = {{{"id", "a"}, {"turn_count", 12}, {"title", "Plans"}},
                               {{"id", "b"}, {"turn_count", 3}, {"title", nullptr}}};
  EXPECT_EQ(list_text(threads, columns),
            "ID  TURNS  TITLE\n"
            "a   12     Plans\n"
            "b   3      \n");
}

TEST(List, EscapesTextOfRecords) {
  const json::value threads = {{{"id", "a"}, {"turn_count", 1}, {"title", "x\n\x1b[2J\u202e"}}};
  EXPECT_EQ(list_text(threads, columns),
            "ID  TURNS  TITLE\n"
            "a   1      x \\x1b[2J\\u202e\n");
}

TEST(List, IsEmptyWithoutRecords) { EXPECT_EQ(list_text(json::array(), columns), ""); }

}  // namespace
}  // namespace agw::cli
