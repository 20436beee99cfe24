#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace agw {

/// Why an expression has no value, for people.
struct CalculationProblem {
  std::string text;
};

/// Evaluates an arithmetic expression with 50 decimal digits and returns up to 30: `(3 + 4) * 2` is `14`, `0.1 + 0.2`
/// is `0.3`. Supports numbers, + - * / % ^ (right-associative, binds tighter than a sign), parentheses, the constants
/// pi and e, and functions such as sqrt(2) or max(1, 2).
/// Example: src/features/actions/calculator_test.cpp: Calculator.KnowsThePrecedenceOfOperators
std::variant<std::string, CalculationProblem> calculate(std::string_view expression);

}  // namespace agw
