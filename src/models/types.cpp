#include "base/json/describe.hpp"
#include "models/catalog.hpp"
#include "models/prices.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(Price, (), (input, output, cache_read, cache_write))
const Description& describe(Tag<Price>) { return description_of<Price>("Price"); }

BOOST_DESCRIBE_STRUCT(ModelInfo, (), (id, provider, context_window, max_output_tokens, vision, price))
constexpr auto rules(Tag<ModelInfo>) {
  return std::tuple{RuleFor<&ModelInfo::id>{{.about = "what a chat names as its model"}},
                    RuleFor<&ModelInfo::context_window>{{.about = "tokens of prompt and answer together"}},
                    RuleFor<&ModelInfo::vision>{{.about = "whether it takes images"}},
                    RuleFor<&ModelInfo::price>{{.about = "USD per million tokens, null where it is unknown"}}};
}
const Description& describe(Tag<ModelInfo>) { return description_of<ModelInfo>("ModelInfo"); }

}  // namespace agw
