// The parser says on which line an entry is; the value's place in the line is found by eye, as it were: only entries in
// the usual form, one per line, are recognized. Whatever that may overlook, the changed text is parsed again, and is
// returned only if it differs from the original in nothing but the entry.

#include "config/edit_yaml.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/containers.hpp"
#include "base/json/json.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

using Form = ConfigNode::Form;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    const auto after = end == text.npos ? text.size() : end + 1;
    lines.push_back(text.substr(begin, after - begin));
    begin = after;
  }
  return lines;
}

std::vector<std::string> parts_of(std::string_view key) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= key.size();) {
    const auto dot = std::min(key.find('.', begin), key.size());
    parts.emplace_back(key.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return parts;
}

/// Whether both have the same values, in any order and on any lines.
bool is_same(const ConfigNode& one, const ConfigNode& other) {
  if (one.form != other.form || one.text != other.text || one.children.size() != other.children.size()) return false;
  if (one.form == Form::list) return std::ranges::equal(one.children, other.children, is_same);
  return std::ranges::all_of(one.children, [&](const auto& child) {
    const auto* counterpart = other.member(child.name);
    return counterpart && is_same(child, *counterpart);
  });
}

void set_in(ConfigNode& map, const std::vector<std::string>& parts, const std::optional<ConfigNode>& value) {
  std::vector<ConfigNode*> path{&map};
  for (const auto& part : parts) {
    path.back()->form = Form::map;
    auto* found = path.back()->member(part);
    path.push_back(found ? found : &path.back()->children.emplace_back(ConfigNode{.form = Form::map, .name = part}));
  }
  if (value) {
    auto name = path.back()->name;
    *path.back() = *value;
    path.back()->name = std::move(name);
    return;
  }
  auto& section = *path[path.size() - 2];
  std::erase_if(section.children, [&](const auto& child) { return child.name == parts.back(); });
  if (section.children.empty() && parts.size() > 1) section.form = Form::nothing;
}

constexpr std::string_view blanks = " \t";

bool is_one_of(char c, std::string_view characters) { return characters.find(c) != characters.npos; }

std::size_t skip_blanks(std::string_view line, std::size_t at) {
  return std::min(line.find_first_not_of(blanks, at), line.size());
}

/// The value in a line of the form `key: value # comment`, without its line end.
struct Entry {
  std::size_t indent;
  std::size_t after_colon;
  std::size_t begin;  ///< of the value; there is none if it equals `end`
  std::size_t end;
};

[[noreturn]] void refuse_line(int line) {
  throw NotEditable(line, "it is not written as `key: value` on a line of its own");
}

std::size_t end_of_quoted(std::string_view line, std::size_t at, int number) {
  const char quote = line[at];
  for (auto i = at + 1; i < line.size(); ++i) {
    if (quote == '"' && line[i] == '\\') {
      ++i;
    } else if (line[i] == quote) {
      if (quote == '"' || i + 1 == line.size() || line[i + 1] != quote) return i + 1;
      ++i;
    }
  }
  refuse_line(number);
}

std::size_t end_of_plain(std::string_view line, std::size_t at) {
  auto end = line.size();
  for (auto i = at; i < line.size(); ++i) {
    if (line[i] == '#' && is_one_of(line[i - 1], blanks)) {
      end = i;
      break;
    }
  }
  const auto last = line.substr(0, end).find_last_not_of(blanks);
  return std::max(at, last + 1);
}

Entry find_entry(std::string_view line, std::string_view key, int number) {
  Entry entry{.indent = std::min(line.find_first_not_of(' '), line.size())};
  auto at = entry.indent;
  const bool is_quoted = at < line.size() && (line[at] == '"' || line[at] == '\'');
  const auto end = is_quoted ? end_of_quoted(line, at, number) : at + key.size();
  if (end > line.size() || line.substr(at + is_quoted, end - at - 2 * is_quoted) != key) refuse_line(number);
  at = skip_blanks(line, end);
  if (at == line.size() || line[at] != ':') refuse_line(number);
  entry.after_colon = at + 1;
  entry.begin = skip_blanks(line, entry.after_colon);
  entry.end = entry.begin;
  if (entry.begin == line.size() || line[entry.begin] == '#') return entry;
  if (is_one_of(line[entry.begin], "[]{}|>&*!%@`?,")) refuse_line(number);
  const bool is_text = line[entry.begin] == '"' || line[entry.begin] == '\'';
  entry.end = is_text ? end_of_quoted(line, entry.begin, number) : end_of_plain(line, entry.begin);
  const auto rest = skip_blanks(line, entry.end);
  if (rest != line.size() && line[rest] != '#') refuse_line(number);
  return entry;
}

std::string as_yaml(const ConfigNode& value) {
  const auto is_plain = [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  if (value.form != Form::string) return value.text;
  const bool begins_like_a_word = is_variable_name(std::string_view(value.text).substr(0, 1));
  constexpr std::array<std::string_view, 5> words{"true", "false", "null", "yes", "no"};
  const bool is_word_of_yaml = contains(words, value.text);
  if (begins_like_a_word && !is_word_of_yaml && std::ranges::all_of(value.text, is_plain)) return value.text;
  std::string quoted;
  write_json(quoted, std::string_view(value.text));
  return quoted;
}

/// The lines of a document, which are changed one at a time.
class Lines {
public:
  explicit Lines(const std::string& text)
      : lines_(lines_of(text)), line_end_(text.find("\r\n") < text.find('\n') ? "\r\n" : "\n") {}

  /// `number` counts from 1.
  Entry entry(std::string_view key, int number) const { return find_entry(content(number), key, number); }

  void replace(std::string_view key, int number, const std::string& value) {
    const auto found = entry(key, number);
    auto& line = lines_[static_cast<std::size_t>(number) - 1];
    if (found.begin == found.end)
      line.insert(found.after_colon, " " + value);
    else
      line.replace(found.begin, found.end - found.begin, value);
  }

  /// A comment at the end of the line stays.
  void remove(std::string_view key, int number) {
    const auto found = entry(key, number);
    auto& line = lines_[static_cast<std::size_t>(number) - 1];
    const auto comment = skip_blanks(content(number), found.end);
    if (comment < content(number).size())
      line.erase(found.indent, comment - found.indent);
    else
      line.clear();
  }

  /// Adds `names`, each below the one before, below the line `parent`; 0: at the end.
  void add(int parent, std::size_t indent, const std::vector<std::string>& names, const std::string& value) {
    std::string added;
    for (const auto& name : names) {
      added += std::string(indent, ' ') + name + ":" + (&name == &names.back() ? " " + value : "") + line_end_;
      indent += 2;
    }
    auto& before = parent == 0 ? last() : lines_[static_cast<std::size_t>(parent) - 1];
    if (!before.empty() && !before.ends_with('\n')) before += line_end_;
    if (parent == 0 && before.starts_with('#')) before += line_end_;
    before += added;
  }

  std::string text() const {
    std::string all;
    for (const auto& line : lines_) all += line;
    return all;
  }

private:
  std::string_view content(int number) const {
    if (static_cast<std::size_t>(number) > lines_.size()) refuse_line(number);
    std::string_view line = lines_[static_cast<std::size_t>(number) - 1];
    return line.substr(0, line.find_last_not_of("\r\n") + 1);
  }

  std::string& last() {
    if (lines_.empty()) lines_.emplace_back();
    return lines_.back();
  }

  std::vector<std::string> lines_;
  std::string line_end_;
};

std::size_t indent_below(const Lines& lines, const ConfigNode& section) {
  if (!section.children.empty()) return lines.entry(section.children[0].name, section.children[0].line).indent;
  return section.line == 0 ? 0 : lines.entry(section.name, section.line).indent + 2;
}

/// Applies the change without regard to what else it may change.
std::string edited(const std::string& text, const ConfigNode& document, const std::vector<std::string>& parts,
                   const std::optional<ConfigNode>& value) {
  Lines lines(text);
  const auto* section = &document;
  int section_line = 0;
  for (std::size_t depth = 0; depth < parts.size(); ++depth) {
    const auto* found = section->member(parts[depth]);
    if (!found) {
      if (!value) return text;
      lines.add(section_line, indent_below(lines, *section), {parts.begin() + static_cast<int>(depth), parts.end()},
                as_yaml(*value));
      return lines.text();
    }
    section = found;
    section_line = found->line;
    if (depth + 1 == parts.size()) continue;
    const auto header = lines.entry(found->name, section_line);
    if (header.begin != header.end) refuse_line(section_line);
  }
  if (value)
    lines.replace(section->name, section_line, as_yaml(*value));
  else
    lines.remove(section->name, section_line);
  return lines.text();
}

ConfigNode parse_edited(const std::string& text) {
  try {
    return parse_yaml(text);
  } catch (const ConfigError& error) {
    throw NotEditable(error.line(), "a change would make the file invalid");
  }
}

}  // namespace

std::string with_entry(const std::string& text, std::string_view key, const std::optional<ConfigNode>& value) {
  const auto document = parse_yaml(text);
  const auto parts = parts_of(key);
  auto changed = edited(text, document, parts, value);
  if (changed == text) return changed;
  auto expected = document;
  set_in(expected, parts, value);
  if (!is_same(expected, parse_edited(changed))) throw NotEditable(0, "a change would change other values, too");
  return changed;
}

}  // namespace agw
