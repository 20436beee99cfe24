#include "features/signals/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(Severity, info, warning, critical)
std::span<const EnumName> names(Tag<Severity>) { return enum_names<Severity>(); }

BOOST_DESCRIBE_STRUCT(Signal, (), (id, kind, severity, message, value, baseline, created_at))
constexpr auto rules(Tag<Signal>) {
  return std::tuple{RuleFor<&Signal::value>{{.about = "what was measured"}},
                    RuleFor<&Signal::baseline>{{.about = "what was to be expected"}}};
}
const Description& describe(Tag<Signal>) { return description_of<Signal>("Signal"); }

BOOST_DESCRIBE_STRUCT(NewSignal, (), (kind, message, severity, value, baseline))
constexpr auto rules(Tag<NewSignal>) {
  return std::tuple{RuleFor<&NewSignal::severity>{{.about = "info when omitted", .has_default = true}},
                    RuleFor<&NewSignal::value>{{.about = "what was measured"}},
                    RuleFor<&NewSignal::baseline>{{.about = "what was to be expected"}}};
}
const Description& describe(Tag<NewSignal>) { return description_of<NewSignal>("NewSignal"); }

BOOST_DESCRIBE_STRUCT(SignalFilter, (), (kind, since, limit))
constexpr auto rules(Tag<SignalFilter>) {
  return std::tuple{RuleFor<&SignalFilter::since>{{.about = "created after"}},
                    RuleFor<&SignalFilter::limit>{{.about = "100 when omitted", .has_default = true}}};
}
const Description& describe(Tag<SignalFilter>) { return description_of<SignalFilter>("SignalFilter"); }

}  // namespace agw
