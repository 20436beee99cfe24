#include "features/experiments/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(Verdict, keep, discard, crash)
std::span<const EnumName> names(Tag<Verdict>) { return enum_names<Verdict>(); }

BOOST_DESCRIBE_STRUCT(Experiment, (),
                      (id, domain, verdict, metric, value, baseline, delta, unit, higher_is_better, iteration_id,
                       proposal, reason, notes, duration_ms, cost_usd, created_at))
constexpr auto rules(Tag<Experiment>) {
  return std::tuple{RuleFor<&Experiment::domain>{{.about = "what it is compared within, mostly agent:<name>"}},
                    RuleFor<&Experiment::metric>{{.about = "null for a decision on a proposal"}},
                    RuleFor<&Experiment::value>{{.about = "null for a decision on a proposal, and for a crash"}},
                    RuleFor<&Experiment::baseline>{{.about = "measured before the change"}},
                    RuleFor<&Experiment::delta>{{.about = "value minus baseline"}},
                    RuleFor<&Experiment::proposal>{{.about = "<agent>/<date> or <agent>/<date>/<name>"}},
                    RuleFor<&Experiment::notes>{{.about = "what was tried"}}};
}
const Description& describe(Tag<Experiment>) { return description_of<Experiment>("Experiment"); }

BOOST_DESCRIBE_STRUCT(ExperimentFilter, (), (domain, verdict, limit))
constexpr auto rules(Tag<ExperimentFilter>) {
  return std::tuple{RuleFor<&ExperimentFilter::limit>{{.about = "50 when omitted", .has_default = true}}};
}
const Description& describe(Tag<ExperimentFilter>) { return description_of<ExperimentFilter>("ExperimentFilter"); }

BOOST_DESCRIBE_STRUCT(Confidence, (), (confidence, sampleSize, mad))
constexpr auto rules(Tag<Confidence>) {
  return std::tuple{
      RuleFor<&Confidence::confidence>{{.about = "|best - baseline| / mad, at most 9999: effectively no variance"}},
      RuleFor<&Confidence::mad>{{.about = "the median distance from the median"}}};
}
const Description& describe(Tag<Confidence>) { return description_of<Confidence>("Confidence"); }

BOOST_DESCRIBE_STRUCT(ConfidenceQuery, (), (domain, metric))
constexpr auto rules(Tag<ConfidenceQuery>) {
  return std::tuple{RuleFor<&ConfidenceQuery::domain>{{.missing = "domain parameter required"}},
                    RuleFor<&ConfidenceQuery::metric>{{.about = "quality when omitted", .has_default = true}}};
}
const Description& describe(Tag<ConfidenceQuery>) { return description_of<ConfidenceQuery>("ConfidenceQuery"); }

BOOST_DESCRIBE_STRUCT(DomainConfidence, (), (domain, metric, confidence, consecutiveDiscards))
constexpr auto rules(Tag<DomainConfidence>) {
  return std::tuple{RuleFor<&DomainConfidence::consecutiveDiscards>{{.about = "many are a signal to stop iterating"}}};
}
const Description& describe(Tag<DomainConfidence>) { return description_of<DomainConfidence>("DomainConfidence"); }

}  // namespace agw
