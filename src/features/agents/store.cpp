#include "features/agents/store.hpp"

#include "base/async/assert.hpp"

namespace agw::agent_store {

namespace {

/// A stage unknown to this version must not extend any rights.
Stage read_stage(std::string_view name) { return from_text<Stage>(name).value_or(Stage::apprentice); }

}  // namespace

std::map<std::string, Stage, std::less<>> stages(Connection& connection) {
  std::map<std::string, Stage, std::less<>> found;
  auto rows = connection.prepare("SELECT agent_id, to_stage FROM agent_stages ORDER BY position");
  while (rows.step()) found[rows.string(0)] = read_stage(rows.text(1));
  return found;
}

std::vector<StageStep> stage_history(Connection& connection, std::string_view agent_id) {
  std::vector<StageStep> steps;
  auto rows = connection.prepare(
      "SELECT from_stage, to_stage, reason, at FROM agent_stages WHERE agent_id = :agent ORDER BY position");
  rows.bind(":agent", agent_id);
  while (rows.step()) {
    steps.push_back({read_stage(rows.text(0)), read_stage(rows.text(1)), rows.string(2), rows.time(3)});
  }
  return steps;
}

void add_stage(Connection& connection, std::string_view agent_id, const StageStep& step) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!agent_id.empty());
  connection
      .prepare(
          "INSERT INTO agent_stages (agent_id, from_stage, to_stage, reason, at) VALUES (:agent, :from, :to, :reason, "
          ":at)")
      .bind(":agent", agent_id)
      .bind(":from", to_text(step.from))
      .bind(":to", to_text(step.to))
      .bind(":reason", step.reason)
      .bind(":at", step.at)
      .run();
}

}  // namespace agw::agent_store
