#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

/// A value from the configuration before it is validated for its key.
struct ConfigNode {
  enum class Form {
    untyped,  ///< the text of a flag or environment variable, of any type
    string,
    number,
    boolean,
    nothing,  ///< `key:` without a value, or null
    list,
    map,
  };
  Form form = Form::untyped;
  std::string name = {};                  ///< of a map's member
  std::string text = {};                  ///< of a scalar
  std::vector<ConfigNode> children = {};  ///< items of a list, or members of a map in the order of the file
  int line = 0;                           ///< of the name, or of an item of a list; from 1

  /// The member of a map; null if there is none.
  const ConfigNode* member(std::string_view member_name) const {
    const auto found = std::ranges::find(children, member_name, &ConfigNode::name);
    return found == children.end() ? nullptr : &*found;
  }
  ConfigNode* member(std::string_view member_name) {
    return const_cast<ConfigNode*>(std::as_const(*this).member(member_name));
  }

  bool is_text() const { return form == Form::string || form == Form::untyped; }
  bool is_number() const { return form == Form::number || form == Form::untyped; }
};

/// A value that is invalid for its key.
class ConfigError : public std::runtime_error {
public:
  ConfigError(int line, std::string key, const std::string& why)
      : std::runtime_error(why), line_(line), key_(std::move(key)) {}
  int line() const { return line_; }
  const std::string& key() const { return key_; }

private:
  int line_;
  std::string key_;
};

/// Parses one YAML document whose root is a map. Throws ConfigError with the key `yaml` if the text is not such a
/// document, and with the key's name for a duplicate key.
ConfigNode parse_yaml(const std::string& text);

}  // namespace agw
