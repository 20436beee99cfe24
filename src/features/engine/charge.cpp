#include "features/engine/charge.hpp"

#include <variant>

namespace agw {

void charge(RunOutcome& outcome, const AnswerServices& services, const Extension& agent, const std::string& thread_id,
            const Answered& answered) {
  const auto& usage = answered.usage();
  if (!std::holds_alternative<ModelReply>(answered.outcome) && usage == Usage{}) return;
  const auto usd = services.models.cost(answered.provider, answered.model, usage);
  outcome.usage += usage;
  outcome.cost_usd += usd.value_or(0);
  outcome.spendings.push_back(services.costs.spend(agent, thread_id, answered.id(), usage, usd));
}

}  // namespace agw
