#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/output/json_output.hpp"

namespace agw::cli {

std::string problem_text(std::string_view error, const json::object& members) {
  auto text = one_line(error);
  for (const auto* name : {"agent_id", "name"}) {
    const auto record = string_member(members, name).value_or("");
    if (!record.empty()) text += ": " + one_line(record);
  }
  if (const auto users = strings_of(members, "named_by"); !users.empty())
    text += fmt::format(" by {}", one_line(fmt::format("{}", fmt::join(users, ", "))));
  const auto* details = members.if_contains("details");
  if (!details || !details->is_array()) return text;
  const char* before = ": ";
  for (const auto& detail : details->get_array()) {
    const auto message = detail.is_object() ? string_member(detail.get_object(), "message") : std::nullopt;
    if (!message) continue;
    text += before + one_line(*message);
    before = "; ";
  }
  return text;
}

}  // namespace agw::cli
