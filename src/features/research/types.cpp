#include "features/research/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(DomainConfig, (), (domain, asset_path, benchmark_path, checks_path, rubric_path))
constexpr auto rules(Tag<DomainConfig>) {
  return std::tuple{
      RuleFor<&DomainConfig::domain>{{.about = "agent:<name> names the agent that makes the change"}},
      RuleFor<&DomainConfig::asset_path>{{.about = "the text file to improve; absolute, in home"}},
      RuleFor<&DomainConfig::benchmark_path>{{.about = "a program that prints METRIC name=value"}},
      RuleFor<&DomainConfig::checks_path>{{.about = "a program that fails where the change breaks something"}},
      RuleFor<&DomainConfig::rubric_path>{{.about = "what a model scores by, where there is no benchmark"}}};
}
const Description& describe(Tag<DomainConfig>) { return description_of<DomainConfig>("DomainConfig"); }

BOOST_DESCRIBE_STRUCT(ResearchPlan, (), (until_confidence, max_discards, max_iterations))
constexpr auto rules(Tag<ResearchPlan>) {
  return std::tuple{RuleFor<&ResearchPlan::until_confidence>{{.has_default = true}},
                    RuleFor<&ResearchPlan::max_discards>{{.has_default = true}},
                    RuleFor<&ResearchPlan::max_iterations>{{.has_default = true}}};
}
const Description& describe(Tag<ResearchPlan>) { return description_of<ResearchPlan>("ResearchPlan"); }

BOOST_DESCRIBE_STRUCT(IterationStarted, (), (status, iterationId, domain))
const Description& describe(Tag<IterationStarted>) { return description_of<IterationStarted>("IterationStarted"); }

BOOST_DESCRIBE_ENUM(IterationStep, measure, change, check, measure_again, decide, ended)
std::span<const EnumName> names(Tag<IterationStep>) { return enum_names<IterationStep>(); }

}  // namespace agw
