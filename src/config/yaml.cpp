#include <charconv>
#include <set>

#include <yaml-cpp/yaml.h>

#include "base/json/yaml.hpp"
#include "config/config_node.hpp"

namespace agw {

namespace {

/// Deeper than any key. The limit also stops at an alias that contains itself.
constexpr int max_depth = 6;
/// More than any real file has. With nested aliases, a few lines represent billions of values or gigabytes of text.
constexpr std::size_t max_values = 100'000;
/// This many bytes of a text count as one value.
constexpr std::size_t bytes_of_value = 64;

ConfigNode::Form form_of_plain(std::string_view text) {
  if (text == "true" || text == "false") return ConfigNode::Form::boolean;
  if (text.find_first_of("0123456789") == text.npos) return ConfigNode::Form::string;
  double number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = end == text.data() + text.size();
  return whole && error != std::errc::invalid_argument ? ConfigNode::Form::number : ConfigNode::Form::string;
}

/// Adds one value and its text to `values`.
void count(std::size_t& values, std::string_view text, int line) {
  values += 1 + text.size() / bytes_of_value;
  if (values > max_values) throw ConfigError(line, "yaml", "has too many values, including those of aliases");
}

ConfigNode to_node(const YAML::Node& node, int line, int depth, std::size_t& values);

void read_members(ConfigNode& map, const YAML::Node& node, int depth, std::size_t& values) {
  std::set<std::string> seen;
  for (const auto& member : node) {
    const int line = member.first.Mark().line + 1;
    if (!member.first.IsScalar()) throw ConfigError(line, "yaml", "a key must be a word");
    const auto& name = member.first.Scalar();
    if (!is_utf8(name)) throw ConfigError(line, "yaml", "the text is not UTF-8");
    count(values, name, line);
    if (!seen.insert(name).second) throw ConfigError(line, name, "is given twice");
    map.children.push_back(to_node(member.second, line, depth + 1, values));
    map.children.back().name = name;
  }
}

ConfigNode to_node(const YAML::Node& node, int line, int depth, std::size_t& values) {
  if (depth > max_depth) throw ConfigError(line, "yaml", "is nested too deeply");
  count(values, node.Scalar(), line);
  ConfigNode entry;
  entry.line = line;
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      entry.text = node.Scalar();
      if (!is_utf8(entry.text)) throw ConfigError(line, "yaml", "the text is not UTF-8");
      entry.form = node.Tag() == "?" ? form_of_plain(entry.text) : ConfigNode::Form::string;
      break;
    case YAML::NodeType::Sequence:
      entry.form = ConfigNode::Form::list;
      for (const auto& item : node) entry.children.push_back(to_node(item, item.Mark().line + 1, depth + 1, values));
      break;
    case YAML::NodeType::Map:
      entry.form = ConfigNode::Form::map;
      read_members(entry, node, depth, values);
      break;
    default:
      entry.form = ConfigNode::Form::nothing;
  }
  return entry;
}

}  // namespace

ConfigNode parse_yaml(const std::string& text) {
  try {
    const auto document = load_yaml_document(text);
    ConfigNode top;
    top.form = ConfigNode::Form::map;
    if (document.IsNull()) return top;
    const int line = document.Mark().line + 1;
    if (!document.IsMap()) throw ConfigError(line, "yaml", "must be lines of the form `key: value`");
    std::size_t values = 0;
    return to_node(document, line, 0, values);
  } catch (const YAML::Exception& error) {
    throw ConfigError(error.mark.line + 1, "yaml", message_of(error));
  }
}

}  // namespace agw
