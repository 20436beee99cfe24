#include "features/permissions/service.hpp"

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"

namespace agw {

InheritedLimits inherited_limits_in(const json::object& order) {
  InheritedLimits inherited;
  const auto* given = order.if_contains(inherited_limits_member);
  if (!given || !given->is_object()) return inherited;
  const auto& members = given->get_object();
  // An invalid member must not extend any right.
  inherited.stage = enum_member(members, "stage", Stage::apprentice);
  inherited.mode = enum_member(members, "mode", ThreadMode::plan);
  const auto* depth = members.if_contains("depth");
  inherited.depth = depth && depth->is_int64() ? static_cast<int>(depth->get_int64()) : max_run_depth;
  return inherited;
}

ToolRequest tool_request(const RunningAgent& caller, const Stages& stages, const Tool& tool) {
  AGW_ASSERT(caller.agent);
  return {.stage = run_stage(stages.of(caller.agent->id), caller.inherited.stage),
          .mode = caller.mode,
          .depth = caller.inherited.depth,
          .limits = caller.limits,
          .kind = tool.kind,
          .tool = tool.description.name,
          .own_file = caller.own_file};
}

}  // namespace agw
