#include <charconv>
#include <set>

#include <yaml-cpp/yaml.h>

#include "base/yaml.hpp"
#include "config/given.hpp"

namespace agw {

namespace {

/// More than any key needs. It also ends the walk through an alias that holds itself.
constexpr int max_depth = 6;
/// More than anybody writes. With aliases of aliases a few lines stand for billions, of a long text for gigabytes.
constexpr std::size_t max_values = 100'000;
/// So much of a text counts as one value more.
constexpr std::size_t bytes_of_value = 64;

Given::Form form_of_plain(std::string_view text) {
  if (text == "true" || text == "false") return Given::Form::boolean;
  if (text.find_first_of("0123456789") == text.npos) return Given::Form::string;
  double number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = end == text.data() + text.size();
  return whole && error != std::errc::invalid_argument ? Given::Form::number : Given::Form::string;
}

/// Counts in `values` what was made of the file so far: one value, with its text.
void count(std::size_t& values, std::string_view text, int line) {
  values += 1 + text.size() / bytes_of_value;
  if (values > max_values) throw BadValue(line, "yaml", "has too many values, those of aliases counted");
}

Given to_given(const YAML::Node& node, int line, int depth, std::size_t& values);

void read_members(Given& map, const YAML::Node& node, int depth, std::size_t& values) {
  std::set<std::string> seen;
  for (const auto& member : node) {
    const int line = member.first.Mark().line + 1;
    if (!member.first.IsScalar()) throw BadValue(line, "yaml", "a key must be a word");
    const auto& name = member.first.Scalar();
    count(values, name, line);
    if (!seen.insert(name).second) throw BadValue(line, name, "is given twice");
    map.children.push_back(to_given(member.second, line, depth + 1, values));
    map.children.back().name = name;
  }
}

Given to_given(const YAML::Node& node, int line, int depth, std::size_t& values) {
  if (depth > max_depth) throw BadValue(line, "yaml", "is nested too deeply");
  count(values, node.Scalar(), line);
  Given given;
  given.line = line;
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      given.text = node.Scalar();
      if (!is_utf8(given.text)) throw BadValue(line, "yaml", "the text is not UTF-8");
      given.form = node.Tag() == "?" ? form_of_plain(given.text) : Given::Form::string;
      break;
    case YAML::NodeType::Sequence:
      given.form = Given::Form::list;
      for (const auto& item : node) given.children.push_back(to_given(item, item.Mark().line + 1, depth + 1, values));
      break;
    case YAML::NodeType::Map:
      given.form = Given::Form::map;
      read_members(given, node, depth, values);
      break;
    default:
      given.form = Given::Form::nothing;
  }
  return given;
}

}  // namespace

Given parse_yaml(const std::string& text) {
  try {
    const auto document = load_yaml_document(text);
    Given top;
    top.form = Given::Form::map;
    if (document.IsNull()) return top;
    const int line = document.Mark().line + 1;
    if (!document.IsMap()) throw BadValue(line, "yaml", "must be lines of the form `key: value`");
    std::size_t values = 0;
    return to_given(document, line, 0, values);
  } catch (const YAML::Exception& error) {
    throw BadValue(error.mark.line + 1, "yaml", error.msg);
  }
}

}  // namespace agw
