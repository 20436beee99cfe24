#include "base/async/assert.hpp"
#include "features/agents/service.hpp"
#include "features/agents/store.hpp"
#include "features/extensions/service.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

AgentStage read_stage(Connection& connection, const Extension& agent) {
  AgentStage found{.agent = agent.name, .history = agent_store::stage_history(connection, agent.id)};
  if (found.history.empty()) return found;
  const auto& latest = found.history.back();
  found.stage = latest.to;
  found.reason = latest.reason;
  found.updated_at = latest.at;
  return found;
}

}  // namespace

Stages::Stages(Database& database, const Clock& clock, const Extensions& extensions)
    : database_(database), clock_(clock), extensions_(extensions) {}

void Stages::load(Connection& connection) { stages_ = agent_store::stages(connection); }

Task<> Stages::refresh() { stages_ = co_await database_.write(agent_store::stages); }

Stage Stages::of(std::string_view agent_id) const {
  const auto found = stages_.find(agent_id);
  return found == stages_.end() ? Stage::apprentice : found->second;
}

ExtensionPointer Stages::require_agent(std::string_view id_or_name) const {
  check_agent_name(id_or_name);
  return extensions_.require_agent(id_or_name);
}

Task<AgentStage> Stages::show(ExtensionPointer agent) {
  co_return co_await database_.read([agent](Connection& connection) { return read_stage(connection, *agent); });
}

Task<AgentStage> Stages::change(ExtensionPointer agent, StageChange wanted) {
  auto changed = co_await database_.write([agent, wanted, now = clock_.now()](Connection& connection) {
    const auto from = read_stage(connection, *agent).stage;
    agent_store::add_stage(connection, agent->id, {from, wanted.stage, wanted.reason, now});
    auto made = read_stage(connection, *agent);
    AGW_DEBUG_ASSERT(made.stage == wanted.stage);
    return made;
  });
  stages_[agent->id] = changed.stage;
  co_return changed;
}

}  // namespace agw
