#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// The text is not TOML, or nested too deeply. The message begins with the line.
class TomlError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Reads TOML 1.0 (https://toml.io/en/v1.0.0). Dates, times and numbers that JSON does not have (`inf`, `nan`) become
/// texts as they stand. `text` is valid UTF-8. Throws TomlError; tables and arrays may be 32 deep.
/// Example: src/base/json/toml_test.cpp: Toml.IsReadAsJson
json::object toml_to_json(std::string_view text);

}  // namespace agw
