#include "features/actions/calculator.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string value(std::string_view expression) {
  const auto found = calculate(expression);
  const auto* problem = std::get_if<CalculationProblem>(&found);
  return problem ? "! " + problem->text : std::get<std::string>(found);
}

TEST(Calculator, KnowsThePrecedenceOfOperators) {
  EXPECT_EQ(value("1 + 2 * 3"), "7");
  EXPECT_EQ(value("(3 + 4) * 2"), "14");
  EXPECT_EQ(value("10 - 4 - 3"), "3");
  EXPECT_EQ(value("100 / 10 / 5"), "2");
  EXPECT_EQ(value("2 ^ 3 ^ 2"), "512");
  EXPECT_EQ(value("-2 ^ 2"), "-4");
  EXPECT_EQ(value("2 ^ -1"), "0.5");
  EXPECT_EQ(value("7 % 4 + --1"), "4");
  EXPECT_EQ(value("2*-3"), "-6");
}

TEST(Calculator, CountsAsPeopleDo) {
  EXPECT_EQ(value("0.1 + 0.2"), "0.3");
  EXPECT_EQ(value("1 / 3"), "0.333333333333333333333333333333");
  EXPECT_EQ(value("2 ^ 64"), "18446744073709551616");
  EXPECT_EQ(value("123456789012345678 * 10"), "1234567890123456780");
  EXPECT_EQ(value("1e3 + .5"), "1000.5");
  EXPECT_EQ(value("100"), "100");
  EXPECT_EQ(value("1e40"), "1e+40");
  EXPECT_EQ(value("0"), "0");
}

TEST(Calculator, HasFunctions) {
  EXPECT_EQ(value("sqrt(2)"), "1.41421356237309504880168872421");
  EXPECT_EQ(value("round(7.5)"), "8");
  EXPECT_EQ(value("round(2.345, 2)"), "2.35");
  EXPECT_EQ(value("max(1, 2, 3) - min(4, 5)"), "-1");
  EXPECT_EQ(value("abs(-3) + floor(1.9) + ceil(1.1)"), "6");
  EXPECT_EQ(value("log(1000)"), "3");
  EXPECT_EQ(value("log(8, 2)"), "3");
  EXPECT_EQ(value("ln(e)"), "1");
  EXPECT_EQ(value("cos(pi)"), "-1");
}

TEST(Calculator, SaysWhatIsWrong) {
  EXPECT_EQ(value("1 / 0"), "! division by zero");
  EXPECT_EQ(value("1 % 0"), "! division by zero");
  EXPECT_EQ(value("sqrt(-1)"), "! a negative number has no square root");
  EXPECT_EQ(value("foo(1)"), "! there is no function foo");
  EXPECT_EQ(value("x + 1"), "! x is neither a number nor a function");
  EXPECT_EQ(value("sqrt(1, 2)"), "! sqrt takes 1 value");
  EXPECT_EQ(value("1 + "), "! cannot read on at `+ `");
  EXPECT_EQ(value(""), "! the expression is not complete");
  EXPECT_EQ(value("system('ls')"), "! system is neither a number nor a function");
  EXPECT_EQ(value("10 ^ 10 ^ 10 ^ 10"), "! the value is too large");
}

TEST(Calculator, SurvivesLongExpressions) {
  EXPECT_EQ(value(std::string(5000, '(')), "! the expression is longer than 1,000 characters");
  EXPECT_EQ(value(std::string(900, '(')), "! the parentheses are nested too deep");
  EXPECT_EQ(value(std::string(998, '-') + "1"), "1");
  EXPECT_EQ(value(std::string(100, '(') + "1" + std::string(100, ')')), "1");
  std::string tower = "1";
  while (tower.size() < 990) tower += "^1";
  EXPECT_EQ(value(tower), "1");
}

}  // namespace
}  // namespace agw
