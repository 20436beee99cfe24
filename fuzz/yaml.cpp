// YAML written by people, agents and packages: it is rejected with a line number, or parsed, serialised, and parsed as
// the same value.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json/json.hpp"
#include "base/json/yaml.hpp"

namespace {

using agw::json::value;

/// `1e3` may be serialised as 1000, the same number in another notation.
bool is_same(const value& one, const value& other) {
  if (one.is_number() && other.is_number()) return one.to_number<double>() == other.to_number<double>();
  if (one.is_array() && other.is_array()) return std::ranges::equal(one.get_array(), other.get_array(), is_same);
  if (one.is_object() && other.is_object()) {
    return std::ranges::equal(one.get_object(), other.get_object(), [](const auto& left, const auto& right) {
      return left.key() == right.key() && is_same(left.value(), right.value());
    });
  }
  return one == other;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto read = agw::yaml_to_json({reinterpret_cast<const char*>(data), size});
    if (!is_same(agw::yaml_to_json(agw::json_to_yaml(read)), read)) std::abort();
  } catch (const agw::YamlError& error) {
    if (error.line() < 1 || !agw::is_utf8(error.what())) std::abort();
  }
  return 0;
}
