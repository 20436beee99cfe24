#include "features/engine/running_agent.hpp"

namespace agw {

HandedDown handed_down_in(const json::object& order) {
  HandedDown handed_down;
  const auto* given = order.if_contains(handed_down_member);
  if (!given || !given->is_object()) return handed_down;
  const auto& members = given->get_object();
  // What cannot be read must not widen anything.
  handed_down.stage = from_text<Stage>(string_member(members, "stage").value_or("")).value_or(Stage::apprentice);
  handed_down.mode = from_text<ThreadMode>(string_member(members, "mode").value_or("")).value_or(ThreadMode::plan);
  const auto* depth = members.if_contains("depth");
  handed_down.depth = depth && depth->is_int64() ? static_cast<int>(depth->get_int64()) : deepest_run;
  return handed_down;
}

ToolRequest request_of(const RunningAgent& caller, const Stages& stages, const Tool& tool) {
  return {.stage = run_stage(stages.of(caller.agent->id), caller.handed_down.stage),
          .mode = caller.mode,
          .depth = caller.handed_down.depth,
          .limits = caller.limits,
          .kind = tool.kind,
          .tool = tool.description.name};
}

}  // namespace agw
