#include "base/json/describe.hpp"
#include "models/catalog.hpp"
#include "models/model_entry.hpp"
#include "models/prices.hpp"
#include "models/settings.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(Price, (), (input, output, cache_read, cache_write))
const Description& describe(Tag<Price>) { return description_of<Price>("Price"); }

BOOST_DESCRIBE_STRUCT(ModelEntry, (), (id, context_window, max_output, vision, tools, prices))
constexpr auto rules(Tag<ModelEntry>) {
  return std::tuple{RuleFor<&ModelEntry::id>{{.about = "as the service knows it"}},
                    RuleFor<&ModelEntry::context_window>{{.about = "tokens of prompt and answer together"}},
                    RuleFor<&ModelEntry::max_output>{{.about = "tokens"}},
                    RuleFor<&ModelEntry::prices>{{.about = "USD per million tokens"}}};
}
const Description& describe(Tag<ModelEntry>) { return description_of<ModelEntry>("ModelEntry"); }

BOOST_DESCRIBE_ENUM(ServiceSource, environment, config, extension, built_in)
std::span<const EnumName> names(Tag<ServiceSource>) { return enum_names<ServiceSource>(); }

BOOST_DESCRIBE_STRUCT(ModelInfo, (), (id, provider, source, context_window, max_output_tokens, vision, tools, price))
constexpr auto rules(Tag<ModelInfo>) {
  return std::tuple{RuleFor<&ModelInfo::id>{{.about = "what a chat names as its model"}},
                    RuleFor<&ModelInfo::source>{{.about = "what set its service up"}},
                    RuleFor<&ModelInfo::context_window>{{.about = "tokens of prompt and answer together"}},
                    RuleFor<&ModelInfo::vision>{{.about = "whether it takes images"}},
                    RuleFor<&ModelInfo::tools>{{.about = "whether it can call tools"}},
                    RuleFor<&ModelInfo::price>{{.about = "USD per million tokens, null where it is unknown"}}};
}
const Description& describe(Tag<ModelInfo>) { return description_of<ModelInfo>("ModelInfo"); }

}  // namespace agw
