#include "features/actions/placeholders.hpp"

#include <algorithm>
#include <map>

#include <boost/algorithm/string/trim.hpp>

#include "base/json/json_values.hpp"

namespace agw {

namespace {

/// Returns the name of the placeholder if the text consists of exactly one.
std::optional<std::string> only_placeholder(std::string_view text) {
  const bool is_one = text.starts_with("{{") && text.find("}}") == text.size() - 2;
  return is_one ? std::optional(boost::trim_copy(std::string(text.substr(2, text.size() - 4)))) : std::nullopt;
}

/// Calls `visit` with the name of each placeholder.
template <class Visit>
void visit_placeholders(std::string_view text, Visit visit) {
  filled(text, [&](const std::string& name) {
    visit(name);
    return std::string();
  });
}

/// Adds up what the placeholders of a form insert.
class InsertedLength {
public:
  explicit InsertedLength(const json::object& input) : input_(input) {}

  void add(const json::value& form) {
    if (form.is_string()) {
      visit_placeholders(form.get_string(), [this](const std::string& name) { total_ += length_of(name); });
    } else if (form.is_array()) {
      for (const auto& element : form.get_array()) add(element);
    } else if (form.is_object()) {
      for (const auto& member : form.get_object()) add(member.value());
    }
  }

  std::size_t total() const { return total_; }

private:
  std::size_t length_of(const std::string& name) {
    const auto [place, is_new] = lengths_.try_emplace(name);
    if (is_new) place->second = text_or_json(input_, name).size();
    return place->second;
  }

  const json::object& input_;
  std::map<std::string, std::size_t> lengths_;
  std::size_t total_ = 0;
};

}  // namespace

bool fills_too_much(const json::object& form, const json::object& input) {
  constexpr std::size_t max_inserted = 10 << 20;
  InsertedLength inserted(input);
  for (const auto& member : form) inserted.add(member.value());
  return inserted.total() > max_inserted;
}

std::string filled(std::string_view text, const Fill& fill) {
  std::string out;
  for (;;) {
    const auto begin = text.find("{{");
    const auto end = begin == text.npos ? text.npos : text.find("}}", begin);
    if (end == text.npos) return out += text;
    out += text.substr(0, begin);
    out += fill(boost::trim_copy(std::string(text.substr(begin + 2, end - begin - 2))));
    text.remove_prefix(end + 2);
  }
}

std::set<std::string> placeholders_in(std::string_view text) {
  std::set<std::string> names;
  visit_placeholders(text, [&](const std::string& name) { names.insert(name); });
  return names;
}

std::string with_quoted_placeholders(std::string_view text) {
  std::string out;
  bool in_quotes = false;
  while (!text.empty()) {
    const auto end = !in_quotes && text.starts_with("{{") ? text.find("}}") : text.npos;
    std::size_t taken = 1;
    if (end != text.npos) {
      taken = end + 2;
      out.append("\"").append(text.substr(0, taken)).append("\"");
    } else {
      if (in_quotes && text.front() == '\\')
        taken = std::min<std::size_t>(2, text.size());
      else if (text.front() == '"')
        in_quotes = !in_quotes;
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

json::value filled_json(const json::value& value, const json::object& input) {
  if (value.is_string()) {
    const std::string_view text(value.get_string());
    if (const auto name = only_placeholder(text)) {
      const auto* member = input.if_contains(*name);
      return member ? *member : json::value();
    }
    return json::value(filled(text, [&](const std::string& name) { return text_or_json(input, name); }));
  }
  if (value.is_array()) {
    json::array out;
    for (const auto& element : value.get_array()) out.push_back(filled_json(element, input));
    return out;
  }
  if (value.is_object()) {
    json::object out;
    for (const auto& member : value.get_object()) out.emplace(member.key(), filled_json(member.value(), input));
    return out;
  }
  return value;
}

}  // namespace agw
