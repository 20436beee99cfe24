#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// The text is not TOML or is nested too deeply. The message begins with the line.
class TomlError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Parses TOML 1.0 (https://toml.io/en/v1.0.0). Dates, times, `inf` and `nan`, which JSON lacks, become strings with
/// their original text. `text` must be valid UTF-8. Throws TomlError, also if tables and arrays are nested deeper than
/// 32.
/// Example: src/base/json/toml_test.cpp: Toml.IsReadAsJson
json::object toml_to_json(std::string_view text);

}  // namespace agw
