// YAML that people, agents and packages write: refused with a line, or read; and what was read is written so that it
// reads the same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.hpp"
#include "base/yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto value = agw::yaml_to_json({reinterpret_cast<const char*>(data), size});
    if (agw::yaml_to_json(agw::json_to_yaml(value)) != value) std::abort();
  } catch (const agw::YamlError& error) {
    if (error.line() < 1) std::abort();
  }
  return 0;
}
