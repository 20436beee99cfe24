#include "features/mcp/elicitation.hpp"

#include <algorithm>

namespace agw {

namespace {

json::object defaults_of(const json::object& form) {
  json::object content;
  const auto* properties = form.if_contains("properties");
  if (!properties || !properties->is_object()) return content;
  for (const auto& [name, field] : properties->get_object()) {
    const auto* proposed = field.is_object() ? field.get_object().if_contains("default") : nullptr;
    if (proposed) content[name] = *proposed;
  }
  return content;
}

bool is_complete(const json::object& content, const json::object& form) {
  const auto* required = form.if_contains("required");
  if (!required || !required->is_array()) return true;
  return std::ranges::all_of(required->get_array(), [&](const json::value& name) {
    return name.is_string() && content.contains(name.get_string());
  });
}

}  // namespace

json::object elicited(const json::object& params) {
  json::object declined{{"action", "decline"}};
  if (string_member(params, "mode").value_or("form") != "form") return declined;
  const auto* form = params.if_contains("requestedSchema");
  if (!form || !form->is_object()) return declined;
  auto content = defaults_of(form->get_object());
  if (content.empty() || !is_complete(content, form->get_object())) return declined;
  return {{"action", "accept"}, {"content", std::move(content)}};
}

}  // namespace agw
