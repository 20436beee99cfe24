#include "features/knowledge/page_text.hpp"

#include <algorithm>
#include <utility>

#include <boost/algorithm/string.hpp>

#include "base/json/yaml.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr std::string_view front_matter_fence = "---";
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t max_value_length = 300;
constexpr std::size_t max_path_length = 4096;
constexpr std::size_t max_sentence_summary_length = 200;
constexpr std::size_t min_sentence_summary_length = 60;
constexpr std::size_t max_listed = 200;

/// The YAML between the fences and the text after them; no value if there is no head.
std::optional<std::pair<std::string_view, std::string_view>> split_head(std::string_view text) {
  if (boost::trim_right_copy(take_line(text)) != front_matter_fence) return std::nullopt;
  const auto begin = text;
  while (!text.empty()) {
    const auto before = text;
    if (boost::trim_right_copy(take_line(text)) == front_matter_fence) {
      return std::pair(begin.substr(0, begin.size() - before.size()), text);
    }
  }
  return std::nullopt;
}

std::string scalar_text(const json::value& value) {
  if (value.is_string()) return single_line(value.get_string(), max_value_length);
  if (value.is_number() || value.is_bool()) return to_json(value);
  return {};
}

/// Keeps whitespace, because file names may contain double spaces or tabs.
std::string path_of(const json::value& value) {
  const bool is_path = value.is_string() && value.get_string().size() <= max_path_length;
  return is_path ? std::string(value.get_string()) : scalar_text(value);
}

std::string scalar_member(const json::object& head, std::string_view name) {
  const auto* value = head.if_contains(name);
  return value ? scalar_text(*value) : std::string();
}

/// A list, or one string with commas between the entries.
std::vector<std::string> list_member(const json::object& head, std::string_view name,
                                     std::string (*read)(const json::value&) = scalar_text) {
  std::vector<std::string> list;
  const auto add = [&](std::string text) {
    if (!text.empty() && list.size() < max_listed) list.push_back(std::move(text));
  };
  const auto* value = head.if_contains(name);
  if (value && value->is_array()) {
    for (const auto& element : value->get_array()) add(read(element));
  } else if (value) {
    std::vector<std::string> parts;
    const auto text = read(*value);
    for (const auto& part : boost::split(parts, text, boost::is_any_of(","))) add(boost::trim_copy(part));
  }
  return list;
}

NamedEntity entity_of(const json::value& value) {
  if (!value.is_object()) return {.name = scalar_text(value)};
  NamedEntity entity{.name = scalar_member(value.get_object(), "name")};
  const auto type = scalar_member(value.get_object(), "type");
  if (!type.empty()) entity.type = type;
  return entity;
}

/// A list, a single entity, or one string with commas between the names.
std::vector<NamedEntity> entities_of(const json::object& head) {
  std::vector<NamedEntity> entities;
  const auto add = [&](NamedEntity entity) {
    if (!entity.name.empty() && entities.size() < max_listed) entities.push_back(std::move(entity));
  };
  const auto* value = head.if_contains("entities");
  if (value && value->is_array()) {
    for (const auto& element : value->get_array()) add(entity_of(element));
  } else if (value && value->is_object()) {
    add(entity_of(*value));
  } else {
    for (auto& name : list_member(head, "entities")) add({.name = std::move(name)});
  }
  return entities;
}

PageHead head_of(const json::object& head) {
  return {.title = scalar_member(head, "title"),
          .summary = scalar_member(head, "summary"),
          .category = scalar_member(head, "category"),
          .scope = scalar_member(head, "scope"),
          .tags = list_member(head, "tags"),
          .sources = list_member(head, "sources", path_of),
          .entities = entities_of(head),
          .updated_at = parse_iso8601(scalar_member(head, "updated_at"))};
}

json::array array_of(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

json::array array_of(const std::vector<NamedEntity>& entities) {
  json::array array;
  for (const auto& entity : entities) {
    if (entity.type) {
      array.push_back(json::object{{"name", entity.name}, {"type", *entity.type}});
    } else {
      array.emplace_back(entity.name);
    }
  }
  return array;
}

/// The length of the first sentences that together are long enough for a summary.
std::size_t end_of_sentences(std::string_view text) {
  for (std::size_t i = min_sentence_summary_length; i + 1 < text.size() && i < max_sentence_summary_length; ++i) {
    if (text[i + 1] == ' ' && (text[i] == '.' || text[i] == '!' || text[i] == '?')) return i + 1;
  }
  return text.size();
}

}  // namespace

PageText read_page_text(std::string_view file) {
  PageText page;
  const auto text = to_utf8(file.starts_with(byte_order_mark) ? file.substr(byte_order_mark.size()) : file);
  const auto parts = split_head(text);
  if (!parts) {
    page.body = text;
    return page;
  }
  try {
    const auto head = yaml_to_json(parts->first);
    if (head.is_object()) page.head = head_of(head.get_object());
    const bool is_head = head.is_object() || head.is_null();
    page.body = is_head ? boost::trim_left_copy_if(std::string(parts->second), boost::is_any_of("\r\n")) : text;
  } catch (const YamlError& error) {
    page.problem = error.what();
    page.body = text;
  }
  return page;
}

std::string write_page_text(const PageText& page) {
  const auto& head = page.head;
  json::object members{{"title", head.title},
                       {"summary", head.summary},
                       {"category", head.category},
                       {"tags", array_of(head.tags)},
                       {"scope", head.scope},
                       {"sources", array_of(head.sources)},
                       {"entities", array_of(head.entities)}};
  if (head.updated_at) members["updated_at"] = to_iso8601(*head.updated_at);
  auto text = "---\n" + json_to_yaml(members);
  if (!text.ends_with('\n')) text += '\n';
  text += "---\n\n" + page.body;
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

std::string title_of_name(std::string_view stem) {
  std::string title(stem);
  std::ranges::replace_if(title, [](char c) { return c == '-' || c == '_'; }, ' ');
  boost::trim(title);
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z') title.front() -= 'a' - 'A';
  return title;
}

std::string single_line(std::string_view text, std::size_t bytes) {
  std::string line;
  bool blank = false;
  std::size_t place = 0;
  for (; place < text.size() && line.size() < bytes; ++place) {
    const char c = text[place];
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') {
      blank = true;
      continue;
    }
    if (std::exchange(blank, false) && !line.empty()) line += ' ';
    line += c;
  }
  if (place == text.size()) return line;
  // Do not cut a UTF-8 character in two.
  while (place > 0 && !line.empty() && continues_character(text[place])) {
    line.pop_back();
    --place;
  }
  return line + "…";
}

std::string summary_of(std::string_view text) {
  const auto line = single_line(text, 2 * max_sentence_summary_length);
  return single_line(std::string_view(line).substr(0, end_of_sentences(line)), max_sentence_summary_length);
}

}  // namespace agw
