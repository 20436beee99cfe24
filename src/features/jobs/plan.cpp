#include "features/jobs/plan.hpp"

#include <algorithm>

#include "base/json/describe.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr double max_timeout_s = 100.0 * 365 * 24 * 3600;

std::optional<std::string> text(const json::object& members, std::string_view name) {
  const auto member = string_member(members, name);
  return member ? std::optional<std::string>(*member) : std::nullopt;
}

}  // namespace

BOOST_DESCRIBE_ENUM(JobConcurrency, forbid, queue, replace)
std::span<const EnumName> names(Tag<JobConcurrency>) { return enum_names<JobConcurrency>(); }

BOOST_DESCRIBE_ENUM(MissedTimes, skip, once)
std::span<const EnumName> names(Tag<MissedTimes>) { return enum_names<MissedTimes>(); }

JobPlan::JobPlan(const Extension& job) {
  const auto& members = job.definition.members();
  agent_id = text(members, "agent_id").value_or("");
  owner_agent_id = text(members, "owner_agent_id");
  prompt = text(members, "prompt");
  prompt_file = text(members, "prompt_file");
  precheck = text(members, "precheck");
  model = text(members, "model");
  mode = text(members, "mode").value_or(mode);
  if (const auto* seconds = members.if_contains("timeout_s"); seconds && seconds->is_number()) {
    timeout_s = seconds->to_number<double>();
  }
  concurrency = enum_member(members, "concurrency", concurrency);
  missed = enum_member(members, "missed", missed);
}

std::chrono::milliseconds JobPlan::timeout() const {
  const std::chrono::duration<double> seconds(std::min(timeout_s, max_timeout_s));
  return std::chrono::ceil<std::chrono::milliseconds>(seconds);
}

std::optional<Trigger> trigger_of(const Extension& job) {
  Problems problems;
  if (job.trigger_def) {
    auto trigger = read_trigger(*job.trigger_def, "trigger_def", problems);
    return problems.empty() ? std::optional(std::move(trigger)) : std::nullopt;
  }
  const auto schedule = text(job.definition.members(), "schedule");
  return schedule ? std::optional<Trigger>(CronTrigger{.expression = *schedule}) : std::nullopt;
}

}  // namespace agw
