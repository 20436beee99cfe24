#include "features/engine/record_usage.hpp"

#include <variant>

namespace agw {

void record_usage(RunOutcome& outcome, const EngineServices& services, const Extension& agent,
                  const std::string& thread_id, const Completion& completion) {
  const auto& usage = completion.usage();
  if (!std::holds_alternative<ModelReply>(completion.outcome) && usage == Usage{}) return;
  const auto usd = services.models.cost(completion.provider, completion.model, usage);
  outcome.usage += usage;
  outcome.cost_usd += usd.value_or(0);
  outcome.spendings.push_back(services.costs.spend(agent, thread_id, completion.id(), usage, usd));
}

}  // namespace agw
