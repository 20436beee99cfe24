#include "features/costs/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(MoneySpent, (), (model, usd))
const Description& describe(Tag<MoneySpent>) { return description_of<MoneySpent>("MoneySpent"); }

BOOST_DESCRIBE_ENUM(CostPeriod, today, week, month)
std::span<const EnumName> names(Tag<CostPeriod>) { return enum_names<CostPeriod>(); }

BOOST_DESCRIBE_STRUCT(CostQuery, (), (period))
constexpr auto rules(Tag<CostQuery>) {
  return std::tuple{
      RuleFor<&CostQuery::period>{{.about = "what the lists are about; today by default", .has_default = true}}};
}
const Description& describe(Tag<CostQuery>) { return description_of<CostQuery>("CostQuery"); }

BOOST_DESCRIBE_STRUCT(AgentCost, (), (agent_id, name, cost))
const Description& describe(Tag<AgentCost>) { return description_of<AgentCost>("AgentCost"); }

BOOST_DESCRIBE_STRUCT(ModelCost, (), (model, cost))
const Description& describe(Tag<ModelCost>) { return description_of<ModelCost>("ModelCost"); }

BOOST_DESCRIBE_STRUCT(ClientCost, (), (client, cost))
const Description& describe(Tag<ClientCost>) { return description_of<ClientCost>("ClientCost"); }

BOOST_DESCRIBE_STRUCT(DayCost, (), (date, cost))
const Description& describe(Tag<DayCost>) { return description_of<DayCost>("DayCost"); }

BOOST_DESCRIBE_STRUCT(ThreadCost, (), (thread_id, title, cost))
const Description& describe(Tag<ThreadCost>) { return description_of<ThreadCost>("ThreadCost"); }

BOOST_DESCRIBE_STRUCT(JobCost, (), (job_id, name, cost))
const Description& describe(Tag<JobCost>) { return description_of<JobCost>("JobCost"); }

BOOST_DESCRIBE_STRUCT(CostReport, (),
                      (today, week, month, saved, cached, by_agent, by_model, unpriced, days, by_thread, by_client,
                       by_job, budget))
constexpr auto rules(Tag<CostReport>) {
  return std::tuple{RuleFor<&CostReport::today>{{.about = "USD since midnight"}},
                    RuleFor<&CostReport::week>{{.about = "USD of the last 7 days"}},
                    RuleFor<&CostReport::month>{{.about = "USD of the last 30 days"}},
                    RuleFor<&CostReport::saved>{
                        {.about = "USD of the period that prompt caches saved; omitted if 0", .omit_empty = true}},
                    RuleFor<&CostReport::cached>{
                        {.about = "0 to 1: the share of the period's input tokens that services read from their prompt "
                                  "caches; omitted if there are none",
                         .omit_empty = true}},
                    RuleFor<&CostReport::unpriced>{{.about = "models of the last 30 days whose price is not known"}},
                    RuleFor<&CostReport::days>{{.about = "the last 30 days, oldest first"}},
                    RuleFor<&CostReport::by_thread>{{.about = "the 20 threads that cost most in the period"}},
                    RuleFor<&CostReport::by_job>{{.about = "what the threads of jobs cost; output in an agent's thread "
                                                           "counts as the agent's only; omitted if there are none",
                                                  .omit_empty = true}},
                    RuleFor<&CostReport::budget>{
                        {.about = "USD that may be spent in a day; omitted if there is no limit", .omit_empty = true}},
                    RuleFor<&CostReport::by_client>{{.about = "programs that asked models directly, by what they call "
                                                              "themselves; omitted if there are none",
                                                     .omit_empty = true}}};
}
const Description& describe(Tag<CostReport>) { return description_of<CostReport>("CostReport"); }

}  // namespace agw
