#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace YAML {  // NOLINT(readability-identifier-naming): named by the library
class Node;
}

namespace agw {

/// Text that is no YAML, or YAML that we do not take.
class YamlError : public std::runtime_error {
public:
  /// `line` counts from 1.
  YamlError(int line, const std::string& why)
      : std::runtime_error("line " + std::to_string(line) + ": " + why), line_(line) {}
  int line() const { return line_; }

private:
  int line_;
};

/// More text than this is refused.
inline constexpr std::size_t max_yaml_size = 1 << 20;

/// Reads one YAML document as JSON: null for an empty one. Plain scalars have the types of YAML 1.2 (`no` is a string),
/// keys are strings. Throws YamlError for what is not UTF-8 or YAML, over 1 MiB, deeper than 64, of several documents,
/// with aliases, tags other than `!!str`, or doubled keys.
json::value yaml_to_json(std::string_view text);

/// Reads text of one document or none as the library's own nodes, for whoever wants the line of each. The library's
/// readers do not do: one reads the first document alone, the other takes text that begins with a comma for empty
/// documents without end. Throws YAML::Exception for what is not YAML, or of several documents.
YAML::Node load_yaml_document(const std::string& text);

/// Writes `value` as a YAML document for people to read and edit: block style, long texts as literal blocks. What it
/// writes reads back as the same value, here and with readers of YAML 1.1: a string `no` is quoted.
std::string json_to_yaml(const json::value& value);

}  // namespace agw
