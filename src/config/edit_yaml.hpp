#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "config/config_node.hpp"

namespace agw {

/// A text in which an entry cannot be changed safely. The message says why, and is followed by the line, if known.
class NotEditable : public std::runtime_error {
public:
  NotEditable(int line, const std::string& why) : std::runtime_error(why), line_(line) {}
  int line() const { return line_; }  ///< from 1; 0 if it is not known

private:
  int line_;
};

/// Returns the YAML document `text` with the entry `key`, such as `retention.days`, set to a string or number, or
/// removed. All other lines, comments and line ends stay as they are. A missing entry is added below its section, or at
/// the end. Throws NotEditable if that would change anything else, such as for anchors and sections in one line, and
/// ConfigError if `text` is not a valid document.
/// Example: src/config/edit_yaml_test.cpp: EditYaml.ChangesOneEntry
std::string with_entry(const std::string& text, std::string_view key, const std::optional<ConfigNode>& value);

}  // namespace agw
