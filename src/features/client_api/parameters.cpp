#include "features/client_api/parameters.hpp"

#include <cmath>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"

namespace agw {

Parameters::Parameters(const json::object& object, std::string path) : object_(object), path_(std::move(path)) {}

std::string Parameters::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

const json::value* Parameters::find(std::string_view name) {
  known_.insert(name);
  const auto* value = object_.if_contains(name);
  return value && !value->is_null() ? value : nullptr;
}

std::optional<std::string> Parameters::text(std::string_view name) {
  const auto* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_string()) throw bad_parameter(path_of(name), "must be a string");
  return std::string(value->get_string());
}

std::string Parameters::required_text(std::string_view name) {
  auto value = text(name);
  if (!value || value->empty()) throw bad_parameter(path_of(name), "must be a string that is not empty");
  return std::move(*value);
}

std::optional<bool> Parameters::flag(std::string_view name) {
  const auto* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_bool()) throw bad_parameter(path_of(name), "must be true or false");
  return value->get_bool();
}

std::optional<double> Parameters::number(std::string_view name, double min, double max) {
  const auto* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_number()) throw bad_parameter(path_of(name), "must be a number");
  const auto number = value->to_number<double>();
  if (number < min || number > max) {
    throw bad_parameter(path_of(name), fmt::format("must be from {} to {}", min, max));
  }
  return number;
}

std::optional<std::int64_t> Parameters::integer(std::string_view name, std::int64_t min, std::int64_t max) {
  const auto* value = find(name);
  if (!value) return std::nullopt;
  const bool is_whole =
      value->is_int64() || (value->is_double() && value->get_double() == std::floor(value->get_double()) &&
                            std::abs(value->get_double()) < 1e15);
  if (!is_whole) throw bad_parameter(path_of(name), "must be an integer");
  const auto number = value->is_int64() ? value->get_int64() : static_cast<std::int64_t>(value->get_double());
  if (number < min || number > max) {
    throw bad_parameter(path_of(name), fmt::format("must be from {} to {}", min, max));
  }
  return number;
}

const json::object* Parameters::object(std::string_view name) {
  const auto* value = find(name);
  if (value && !value->is_object()) throw bad_parameter(path_of(name), "must be an object");
  return value ? &value->get_object() : nullptr;
}

const json::array* Parameters::array(std::string_view name, std::size_t max_size) {
  const auto* value = find(name);
  if (value && !value->is_array()) throw bad_parameter(path_of(name), "must be an array");
  if (value && value->get_array().size() > max_size) {
    throw bad_parameter(path_of(name), fmt::format("must have at most {} elements", max_size));
  }
  return value ? &value->get_array() : nullptr;
}

void Parameters::ignore(std::initializer_list<std::string_view> names) { known_.insert(names.begin(), names.end()); }

void Parameters::finish() const {
  for (const auto& [name, value] : object_) {
    if (value.is_null() || known_.contains(name)) continue;
    throw bad_parameter(path_of(name), "is not known here: leave it out", "unknown_parameter");
  }
}

const json::object& object_at(const json::value& value, const std::string& path) {
  if (!value.is_object()) throw bad_parameter(path, "must be an object");
  return value.get_object();
}

}  // namespace agw
