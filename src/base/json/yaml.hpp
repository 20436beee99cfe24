#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace YAML {  // NOLINT(readability-identifier-naming): named by the library
class Exception;
class Node;
}  // namespace YAML

namespace agw {

/// The text is not YAML or uses a feature of YAML that we reject.
class YamlError : public std::runtime_error {
public:
  /// `line` counts from 1.
  YamlError(int line, const std::string& why)
      : std::runtime_error("line " + std::to_string(line) + ": " + why), line_(line) {}
  int line() const { return line_; }

private:
  int line_;
};

/// Longer text is rejected.
inline constexpr std::size_t max_yaml_size = 1 << 20;

/// Parses one YAML document as JSON; null for an empty one. Plain scalars have the types of YAML 1.2 (`no` is a
/// string), keys are strings. Throws YamlError if the text is not UTF-8 or not YAML, is over 1 MiB or nested deeper
/// than 64, has several documents, aliases, tags other than `!!str`, or duplicate keys.
/// Example: src/base/json/yaml_test.cpp: Yaml.ReadsBlocksAndNestedValuesInOrder
json::value yaml_to_json(std::string_view text);

/// Parses text with at most one document into the library's nodes, which have line numbers. The library's own loaders
/// do not suffice: one reads only the first document, the other treats text that begins with a comma as an endless
/// series of empty documents. Throws YAML::Exception if the text is not YAML or has several documents.
YAML::Node load_yaml_document(const std::string& text);
/// What is wrong, without its place, as UTF-8.
std::string message_of(const YAML::Exception& error);

/// Writes `value` as a YAML document for people to read and edit: block style, long texts as literal blocks. It reads
/// back as the same value, here and with YAML 1.1 parsers: the string `no` is quoted.
std::string json_to_yaml(const json::value& value);

}  // namespace agw
