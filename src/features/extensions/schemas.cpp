#include "features/extensions/schemas.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/embedded.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr std::string_view schema_folder = "share/schemas/";

std::map<ExtensionType, json::object> read_schemas() {
  std::map<ExtensionType, json::object> schemas;
  for (const auto& file : embedded_files()) {
    if (!file.path.starts_with(schema_folder)) continue;
    const auto name = file.path.substr(schema_folder.size(),
                                       file.path.size() - schema_folder.size() - std::string_view(".json").size());
    const auto type = from_text<ExtensionType>(name);
    auto schema = parse_json(file.content);
    AGW_CHECK(type && schema, "not the JSON Schema of a type: " + std::string(file.path));
    schemas.emplace(*type, std::move(schema->get_object()));
  }
  return schemas;
}

std::string_view with_article(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> phrases = {
      {{"string", "a string"},
       {"boolean", "a boolean"},
       {"number", "a number"},
       {"integer", "a whole number"},
       {"object", "an object"},
       {"array", "an array"},
       {"null", "null"}}};
  return std::find_if(phrases.begin(), phrases.end(), [&](const auto& entry) { return entry.first == type; })->second;
}

std::string joined(const json::array& texts, std::string_view separator, auto phrase) {
  std::string out;
  for (const auto& text : texts) {
    if (!out.empty()) out += separator;
    out += phrase(std::string_view(text.get_string()));
  }
  return out;
}

/// Traverses a value and its schema together.
class SchemaValidator {
public:
  explicit SchemaValidator(Problems& problems) : problems_(problems) {}

  void value(const json::object& schema, const json::value& value, const std::string& path) {
    if (problems_.size() >= max_problems || !type(schema, value, path)) return;
    listed(schema, value, path);
    if (value.is_number()) bounds(schema, value.to_number<double>(), path);
    if (value.is_string()) format(schema, std::string_view(value.get_string()), path);
    if (value.is_object()) object(schema, value.get_object(), path);
    if (value.is_array()) array(schema, value.get_array(), path);
  }

private:
  void report(const std::string& path, std::string_view what) {
    problems_.push_back({path, path + " " + std::string(what)});
  }

  bool type(const json::object& schema, const json::value& value, const std::string& path) {
    const auto* given = schema.if_contains("type");
    if (!given) return true;
    const auto types = given->is_array() ? given->get_array() : json::array{*given};
    for (const auto& one : types) {
      if (has_json_type(value, std::string_view(one.get_string()))) return true;
    }
    report(path, "must be " + joined(types, " or ", with_article));
    return false;
  }

  void listed(const json::object& schema, const json::value& value, const std::string& path) {
    const auto* given = schema.if_contains("enum");
    if (!given) return;
    const auto& values = given->get_array();
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      report(path, "must be one of " + joined(values, ", ", [](std::string_view text) { return text; }));
    }
  }

  void bounds(const json::object& schema, double number, const std::string& path) {
    const auto bound = [&](std::string_view word) -> std::optional<double> {
      const auto* given = schema.if_contains(word);
      return given ? std::optional(given->to_number<double>()) : std::nullopt;
    };
    if (const auto least = bound("minimum"); least && number < *least)
      report(path, fmt::format("must be at least {}", *least));
    if (const auto below = bound("exclusiveMinimum"); below && number <= *below) {
      report(path, fmt::format("must be more than {}", *below));
    }
    if (const auto most = bound("maximum"); most && number > *most)
      report(path, fmt::format("must be at most {}", *most));
  }

  void format(const json::object& schema, std::string_view text, const std::string& path) {
    const auto name = string_member(schema, "format");
    if (!name) return;
    if (const auto expected = expected_format(*name, text)) report(path, "must be " + *expected);
  }

  void object(const json::object& schema, const json::object& members, const std::string& path) {
    if (const auto* required = schema.if_contains("required")) {
      for (const auto& name : required->get_array()) {
        if (!given(members, name)) report(path + "." + std::string(name.get_string()), "is required");
      }
    }
    alternatives(schema, members, path);
    const auto* properties = schema.if_contains("properties");
    const auto* others = schema.if_contains("additionalProperties");
    const auto* names = schema.if_contains("propertyNames");
    for (const auto& member : members) {
      if (names) format(names->get_object(), member.key(), path + "." + std::string(member.key()));
      const auto* known = properties ? properties->get_object().if_contains(member.key()) : nullptr;
      // Null means an omitted member, except in objects with arbitrary names, such as variables.
      if (known && member.value().is_null()) continue;
      if (const auto* judged = known ? known : others) {
        value(judged->get_object(), member.value(), path + "." + std::string(member.key()));
      }
    }
  }

  /// `anyOf`, each with one required member.
  void alternatives(const json::object& schema, const json::object& members, const std::string& path) {
    const auto* given_alternatives = schema.if_contains("anyOf");
    if (!given_alternatives) return;
    json::array names;
    for (const auto& alternative : given_alternatives->get_array()) {
      names.push_back(alternative.at("required").at(0));
      if (given(members, names.back())) return;
    }
    report(path, "must have one of " + joined(names, ", ", [](std::string_view text) { return text; }));
  }

  void array(const json::object& schema, const json::array& elements, const std::string& path) {
    const auto* items = schema.if_contains("items");
    for (std::size_t i = 0; items && i < elements.size(); ++i) {
      value(items->get_object(), elements[i], path + "[" + std::to_string(i) + "]");
    }
  }

  static bool given(const json::object& members, const json::value& name) {
    const auto* member = members.if_contains(name.get_string());
    return member && !member->is_null();
  }

  Problems& problems_;
};

}  // namespace

const json::object& definition_schema(ExtensionType type) {
  static const auto schemas = read_schemas();
  return schemas.at(type);
}

void validate_by_schema(const json::object& schema, const json::value& value, const std::string& path,
                        Problems& problems) {
  SchemaValidator(problems).value(schema, value, path);
}

bool is_schema_word(std::string_view word) {
  static constexpr std::array<std::string_view, 18> words = {
      "type",          "enum",    "minimum", "exclusiveMinimum",     "maximum",     "format",  "required", "properties",
      "anyOf",         "items",   "title",   "additionalProperties", "description", "default", "examples", "$schema",
      "propertyNames", "$comment"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace agw
