#include "storage/postgres/parameters.hpp"

#include <gmock/gmock.h>

namespace agw::postgres {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NumberedSqlTest, NumbersNamesInTheOrderOfTheirFirstUse) {
  const auto sql = number_parameters("SELECT :b, :a_1, :b FROM t WHERE x > :c");
  EXPECT_EQ(sql.text, "SELECT $1, $2, $1 FROM t WHERE x > $3");
  EXPECT_THAT(sql.names, ElementsAre(":b", ":a_1", ":c"));
}

TEST(NumberedSqlTest, EachQuestionMarkIsAParameterOfItsOwn) {
  const auto sql = number_parameters("INSERT INTO t VALUES (?, ?)");
  EXPECT_EQ(sql.text, "INSERT INTO t VALUES ($1, $2)");
  EXPECT_THAT(sql.names, ElementsAre("", ""));
}

TEST(NumberedSqlTest, LeavesTextsCommentsAndCastsAlone) {
  for (const std::string sql : {"SELECT ':a''?'", "SELECT \":a\" FROM t", "SELECT 1 -- :a ?\n", "SELECT /* :a ? */ 1",
                                "SELECT x::text, now()::date", "SELECT a[1:2]", "SELECT 'open :a"}) {
    EXPECT_EQ(number_parameters(sql).text, sql);
    EXPECT_THAT(number_parameters(sql).names, IsEmpty());
  }
}

TEST(NumberedSqlTest, AParameterMayBeCast) { EXPECT_EQ(number_parameters("SELECT :a::text").text, "SELECT $1::text"); }

}  // namespace
}  // namespace agw::postgres
