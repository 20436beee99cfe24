#include <cstdlib>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/time/time_zone.hpp"
#include "features/actions/calculator.hpp"
#include "features/actions/kinds.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

std::string offset_text(std::chrono::seconds offset) {
  const auto minutes = std::abs(offset.count()) / 60;
  return fmt::format("{}{:02}:{:02}", offset.count() < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

ToolOutcome current_time(const json::object& input, Timestamp now) {
  const auto name = string_member(input, "timezone");
  const auto zone = name ? TimeZone::named(*name) : std::optional(TimeZone::host());
  if (!zone) return failed(fmt::format("unknown time zone {}; use IANA names such as Europe/Berlin", *name));
  const auto time = std::chrono::floor<std::chrono::seconds>(now);
  const auto offset = zone->span_at(time).offset;
  const auto local = fmt::gmtime(std::chrono::system_clock::to_time_t(time + offset));
  return {.output = fmt::format("{:%Y-%m-%dT%H:%M:%S}{} ({:%A}{}{})", local, offset_text(offset), local,
                                name ? ", " : "", name.value_or(""))};
}

ToolOutcome calculated(const json::object& input) {
  const auto found = calculate(string_member(input, "expression").value_or(""));
  if (const auto* problem = std::get_if<CalculationProblem>(&found)) return failed(problem->text);
  return {.output = std::get<std::string>(found)};
}

}  // namespace

ToolOutcome call_built_in_action(const std::string& name, const json::object& input, Timestamp now) {
  if (name == "current-time") return current_time(input, now);
  if (name == "calculate") return calculated(input);
  return failed(fmt::format("the gateway has no builtin action {}", name));
}

}  // namespace agw
