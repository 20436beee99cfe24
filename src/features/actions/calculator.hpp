#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace agw {

/// Why an expression has no value, for people.
struct CalculationProblem {
  std::string text;
};

/// The value of an arithmetic expression, with 50 decimal digits inside and up to 30 shown: `(3 + 4) * 2` is `14`,
/// `0.1 + 0.2` is `0.3`. Numbers, + - * / % ^ (which binds from the right, and more than a sign), parentheses, the
/// constants pi and e, and functions such as sqrt(2) or max(1, 2).
std::variant<std::string, CalculationProblem> calculate(std::string_view expression);

}  // namespace agw
