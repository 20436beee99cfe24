#include "features/actions/calculator.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_dec_float.hpp>
#include <boost/spirit/home/x3.hpp>

namespace agw {

namespace {

namespace x3 = boost::spirit::x3;
namespace mp = boost::multiprecision;
using Number = mp::number<mp::cpp_dec_float<50>, mp::et_off>;

constexpr std::size_t max_expression_length = 1000;
constexpr int max_parentheses_depth = 100;
constexpr int shown_digits = 30;

/// Thrown for invalid values, with the reason as its message.
class NoValue : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

using Arguments = std::vector<Number>;
struct Function {
  std::size_t min_arguments;
  std::size_t max_arguments;
  Number (*apply)(const Arguments&);
};

/// Rounds half away from zero to a number of decimal places.
Number rounded(const Arguments& given) {
  if (given.size() == 1) return mp::round(given[0]);
  if (mp::abs(given[1]) > 30) throw NoValue("round takes up to 30 digits");
  const Number scale = mp::pow(Number(10), mp::trunc(given[1]));
  return mp::round(given[0] * scale) / scale;
}

Number root_of(const Number& value) {
  if (value < 0) throw NoValue("a negative number has no square root");
  return mp::sqrt(value);
}

Number logarithm_of(const Number& value) {
  if (value <= 0) throw NoValue("only positive numbers have a logarithm");
  return mp::log(value);
}

const std::map<std::string, Function, std::less<>>& functions() {
  static const std::map<std::string, Function, std::less<>> all{
      {"sqrt", {1, 1, [](const Arguments& a) { return root_of(a[0]); }}},
      {"abs", {1, 1, [](const Arguments& a) -> Number { return mp::abs(a[0]); }}},
      {"floor", {1, 1, [](const Arguments& a) -> Number { return mp::floor(a[0]); }}},
      {"ceil", {1, 1, [](const Arguments& a) -> Number { return mp::ceil(a[0]); }}},
      {"round", {1, 2, rounded}},
      {"exp", {1, 1, [](const Arguments& a) -> Number { return mp::exp(a[0]); }}},
      {"ln", {1, 1, [](const Arguments& a) { return logarithm_of(a[0]); }}},
      {"log",
       {1, 2,
        [](const Arguments& a) -> Number {
          return logarithm_of(a[0]) / (a.size() == 2 ? logarithm_of(a[1]) : mp::log(Number(10)));
        }}},
      {"log2", {1, 1, [](const Arguments& a) -> Number { return logarithm_of(a[0]) / mp::log(Number(2)); }}},
      {"log10", {1, 1, [](const Arguments& a) -> Number { return logarithm_of(a[0]) / mp::log(Number(10)); }}},
      {"sin", {1, 1, [](const Arguments& a) -> Number { return mp::sin(a[0]); }}},
      {"cos", {1, 1, [](const Arguments& a) -> Number { return mp::cos(a[0]); }}},
      {"tan", {1, 1, [](const Arguments& a) -> Number { return mp::tan(a[0]); }}},
      {"asin", {1, 1, [](const Arguments& a) -> Number { return mp::asin(a[0]); }}},
      {"acos", {1, 1, [](const Arguments& a) -> Number { return mp::acos(a[0]); }}},
      {"atan", {1, 1, [](const Arguments& a) -> Number { return mp::atan(a[0]); }}},
      {"min", {1, 100, [](const Arguments& a) { return *std::ranges::min_element(a); }}},
      {"max", {1, 100, [](const Arguments& a) { return *std::ranges::max_element(a); }}},
  };
  return all;
}

Number call(const std::string& name, const Arguments& arguments) {
  const auto found = functions().find(name);
  if (found == functions().end()) throw NoValue(fmt::format("there is no function {}", name));
  const auto& function = found->second;
  if (arguments.size() < function.min_arguments || arguments.size() > function.max_arguments) {
    throw NoValue(
        fmt::format("{} takes {} value{}", name, function.min_arguments, function.min_arguments == 1 ? "" : "s"));
  }
  return function.apply(arguments);
}

Number constant(const std::string& name) {
  if (name == "pi") return boost::math::constants::pi<Number>();
  if (name == "e") return boost::math::constants::e<Number>();
  throw NoValue(fmt::format("{} is neither a number nor a function", name));
}

Number divided(const Number& a, const Number& b) {
  if (b == 0) throw NoValue("division by zero");
  return a / b;
}

Number remainder_of(const Number& a, const Number& b) {
  if (b == 0) throw NoValue("division by zero");
  return mp::fmod(a, b);
}

Number power_of(const Number& base, const Number& exponent) {
  if (base == 0 && exponent < 0) throw NoValue("division by zero");
  if (base < 0 && mp::trunc(exponent) != exponent) throw NoValue("a negative number has no fractional power");
  return mp::pow(base, exponent);
}

// The grammar. Each rule's attribute is its value.

const x3::rule<class Sum, Number> sum = "sum";
const x3::rule<class Product, Number> product = "product";
const x3::rule<class Sign, Number> sign = "sign";
const x3::rule<class Power, Number> power = "power";
const x3::rule<class Primary, Number> primary = "primary";
const x3::rule<class Call, Number> invocation = "call";
const x3::rule<class Name, std::string> name = "name";
const x3::rule<class Digits, std::string> digits = "digits";

const auto take = [](auto& context) { x3::_val(context) = x3::_attr(context); };

template <class Operation>
auto with(Operation operation) {
  return [=](auto& context) { x3::_val(context) = operation(x3::_val(context), x3::_attr(context)); };
}

const auto to_number = [](auto& context) { x3::_val(context) = Number(x3::_attr(context)); };
const auto to_constant = [](auto& context) { x3::_val(context) = constant(x3::_attr(context)); };
const auto to_result = [](auto& context) {
  auto& parts = x3::_attr(context);
  x3::_val(context) = call(boost::fusion::at_c<0>(parts), boost::fusion::at_c<1>(parts));
};

const auto digits_def = x3::raw[x3::lexeme[((+x3::digit >> -('.' >> *x3::digit)) | ('.' >> +x3::digit)) >>
                                           -(x3::char_("eE") >> -x3::char_("+-") >> +x3::digit)]];
const auto name_def = x3::raw[x3::lexeme[x3::alpha >> *x3::alnum]];
const auto invocation_def = (name >> '(' >> (sum % ',') >> ')')[to_result];
const auto primary_def = digits[to_number] | ('(' >> sum >> ')')[take] | invocation[take] | name[to_constant];
const auto power_def = primary[take] >> -('^' >> sign[with(power_of)]);
const auto sign_def =
    ('-' >> sign[([](auto& context) { x3::_val(context) = -x3::_attr(context); })]) | ('+' >> sign[take]) | power[take];
const auto product_def = sign[take] >> *(('*' >> sign[with(std::multiplies<Number>())]) | ('/' >> sign[with(divided)]) |
                                         ('%' >> sign[with(remainder_of)]));
const auto sum_def = product[take] >>
                     *(('+' >> product[with(std::plus<Number>())]) | ('-' >> product[with(std::minus<Number>())]));

BOOST_SPIRIT_DEFINE(sum, product, sign, power, primary, invocation, name, digits)

bool is_too_deep(std::string_view expression) {
  int depth = 0;
  return std::ranges::any_of(expression, [&](char c) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    return depth > max_parentheses_depth;
  });
}

std::string shown(const Number& value) {
  if (!mp::isfinite(value)) throw NoValue("the value is too large");
  if (value == mp::trunc(value) && mp::abs(value) < Number("1e30"))
    return value.str(0, std::ios_base::fixed).substr(0, value.str(0, std::ios_base::fixed).find('.'));
  return value.str(shown_digits);
}

std::string value_of(std::string_view expression) {
  const auto* at = expression.data();
  const auto* const end = at + expression.size();
  Number value;
  const bool parsed = x3::phrase_parse(at, end, sum, x3::ascii::space, value);
  if (parsed && at == end) return shown(value);
  const auto rest = std::string_view(at, static_cast<std::size_t>(end - at)).substr(0, 20);
  throw NoValue(rest.empty() ? "the expression is not complete" : fmt::format("cannot read on at `{}`", rest));
}

}  // namespace

std::variant<std::string, CalculationProblem> calculate(std::string_view expression) {
  if (expression.size() > max_expression_length)
    return CalculationProblem{"the expression is longer than 1,000 characters"};
  if (is_too_deep(expression)) return CalculationProblem{"the parentheses are nested too deep"};
  try {
    return value_of(expression);
  } catch (const NoValue& error) {
    return CalculationProblem{error.what()};
  } catch (const std::runtime_error& error) {
    return CalculationProblem{error.what()};
  }
}

}  // namespace agw
