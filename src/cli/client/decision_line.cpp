#include "cli/client/decision_line.hpp"

#include <algorithm>
#include <vector>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"

namespace agw::cli {

namespace {

bool is_word(std::string_view word, std::string_view full) { return word == full || word == full.substr(0, 1); }

json::object allow(std::string_view scope) { return {{"decision", "allow"}, {"scope", scope}}; }

std::string trimmed(std::string_view text) { return boost::trim_copy(std::string(text)); }

}  // namespace

std::string choices_of(const json::object& request) {
  std::string choices = "[y]es";
  if (lists_string(request, "scopes", "thread")) choices += ", [t]hread";
  if (is_true(request, "can_propose")) choices += ", [p]ropose";
  return choices + ", [n]o";
}

std::optional<json::object> decision_in(std::string_view line, const json::object& request) {
  const auto text = trimmed(line);
  const auto end = std::min(text.find_first_of(" ,:\t"), text.size());
  const auto word = boost::to_lower_copy(text.substr(0, end));
  const auto rest = trimmed(boost::trim_left_copy_if(text.substr(end), [](char c) { return c == ',' || c == ':'; }));
  if (is_word(word, "no")) {
    json::object body{{"decision", "deny"}};
    if (!rest.empty()) body["reason"] = rest;
    return body;
  }
  // Only `no` may be followed by words: `yes, but …` does not mean yes.
  if (!rest.empty()) return std::nullopt;
  if (is_word(word, "yes") && lists_string(request, "scopes", "once")) return allow("once");
  if (is_word(word, "thread") && lists_string(request, "scopes", "thread")) return allow("thread");
  if (is_word(word, "propose") && is_true(request, "can_propose")) return json::object{{"decision", "propose"}};
  return std::nullopt;
}

std::optional<json::value> form_value(std::string_view line, const json::object& member) {
  const auto text = trimmed(line);
  const auto type = string_or_empty(member, "type");
  if (type == "boolean") {
    const auto word = boost::to_lower_copy(text);
    if (is_word(word, "yes") || word == "true") return json::value(true);
    return is_word(word, "no") || word == "false" ? std::optional(json::value(false)) : std::nullopt;
  }
  if (type == "integer" || type == "number") {
    const auto number = parse_json(text);
    return number && has_json_type(*number, type) ? number : std::nullopt;
  }
  if (type == "array") {
    std::vector<std::string> parts;
    boost::split(parts, text, [](char c) { return c == ','; });
    json::array values;
    for (const auto& part : parts) values.emplace_back(trimmed(part));
    return json::value(std::move(values));
  }
  const auto* values = array_member(member, "enum");
  const json::value typed(text);
  if (values && !contains(*values, typed)) return std::nullopt;
  return typed;
}

}  // namespace agw::cli
