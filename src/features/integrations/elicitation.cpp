#include "features/integrations/elicitation.hpp"

#include <algorithm>

#include "base/json/json_values.hpp"

namespace agw {

namespace {

json::object defaults_of(const json::object& form) {
  json::object content;
  for (const auto& [name, field] : object_or_empty(form, "properties")) {
    const auto* proposed = field.is_object() ? field.get_object().if_contains("default") : nullptr;
    if (proposed) content[name] = *proposed;
  }
  return content;
}

bool is_complete(const json::object& content, const json::object& form) {
  const auto* required = array_member(form, "required");
  return !required || std::ranges::all_of(*required, [&](const json::value& name) {
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
