#include <variant>

#include "features/engine/engine_services.hpp"
#include "features/engine/outcome.hpp"
#include "models/retry.hpp"

namespace agw {

void record_usage(RunOutcome& outcome, const EngineServices& services, const Extension& agent,
                  const std::string& thread_id, const Completion& completion) {
  const auto& usage = completion.usage();
  if (!std::holds_alternative<ModelReply>(completion.outcome) && usage == Usage{}) return;
  outcome.usage += usage;
  if (std::holds_alternative<ModelReply>(completion.outcome))
    outcome.context_tokens =
        usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens;
  outcome.spendings.push_back(services.costs.spend(agent, thread_id, completion));
  outcome.cost_usd += outcome.spendings.back().usd;
}

}  // namespace agw
