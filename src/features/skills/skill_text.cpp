#include "features/skills/skill_text.hpp"

#include <boost/algorithm/string.hpp>

#include "base/json/json_values.hpp"
#include "base/json/yaml.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view fence = "---";
/// In characters, as specified by the format: every prompt includes the description.
constexpr std::size_t max_description_length = 1024;

/// Head and body. Only a separate line counts as a fence, because a value may contain dashes, and in the body they are
/// a rule.
struct Parts {
  std::string head;
  std::string body;
};

std::optional<Parts> split(std::string text) {
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  boost::erase_all(text, "\r");
  Parts parts;
  bool in_head = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = boost::trim_right_copy(text.substr(at, end - at));
    if (at == 0) {
      if (line != fence) return std::nullopt;
      in_head = true;
    } else if (line == fence) {
      parts.body = boost::trim_copy(text.substr(std::min(end + 1, text.size())));
      return parts;
    } else if (in_head) {
      parts.head += line + '\n';
    }
    at = end + 1;
  }
  return std::nullopt;
}

/// Quotes the values of all plain lines, for common errors such as `description: Use when: …`.
std::string with_quotes(const std::string& head) {
  std::vector<std::string> lines;
  boost::split(lines, head, boost::is_any_of("\n"));
  std::string quoted;
  for (const auto& line : lines) {
    const auto colon = line.find(": ");
    const bool is_plain = colon != line.npos && line.find(": ", colon + 2) != line.npos && line.front() != ' ' &&
                          line.find_first_of("\"'|>[{", colon + 2) != colon + 2;
    if (is_plain) {
      quoted += line.substr(0, colon + 2) + to_json(json::value(line.substr(colon + 2)));
    } else {
      quoted += line;
    }
    quoted += '\n';
  }
  return quoted;
}

std::optional<json::object> read_head(const std::string& head, std::string& why) {
  for (const auto& text : {head, with_quotes(head)}) {
    try {
      auto value = yaml_to_json(text);
      if (value.is_object()) return std::move(value.get_object());
      why = "its head is not a map";
    } catch (const YamlError& error) {
      why = error.what();
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<SkillText> read_skill_text(std::string_view text, std::string& why) {
  auto parts = split(std::string(text));
  if (!parts) {
    why = "it does not begin with a head between two lines ---";
    return std::nullopt;
  }
  const auto head = read_head(parts->head, why);
  if (!head) return std::nullopt;
  SkillText skill;
  skill.name = boost::trim_copy(std::string(string_member(*head, "name").value_or("")));
  const auto description = boost::trim_copy(std::string(string_member(*head, "description").value_or("")));
  skill.description = first_characters(description, max_description_length);
  if (skill.description.empty()) {
    why = "it has no description";
    return std::nullopt;
  }
  skill.for_people = is_true(*head, "disable-model-invocation");
  skill.body = std::move(parts->body);
  return skill;
}

}  // namespace agw
