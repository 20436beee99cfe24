#include "tools/input.hpp"

#include <boost/system/error_code.hpp>

#include "base/json/json_values.hpp"

namespace agw {

std::string text_input(const json::object& input, std::string_view name, std::string_view otherwise) {
  return std::string(string_member(input, name).value_or(otherwise));
}

std::int64_t number_input(const json::object& input, std::string_view name, std::int64_t otherwise, std::int64_t min,
                          std::int64_t max) {
  const auto* const value = input.if_contains(name);
  if (value == nullptr || !value->is_number()) return otherwise;
  const auto number = value->to_number<double>();
  if (number <= static_cast<double>(min)) return min;
  return number >= static_cast<double>(max) ? max : static_cast<std::int64_t>(number);
}

}  // namespace agw
