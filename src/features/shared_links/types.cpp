#include "features/shared_links/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(SharedLink, (), (id, thread_id, created_at, expires_at, size))
constexpr auto rules(Tag<SharedLink>) {
  return std::tuple{RuleFor<&SharedLink::expires_at>{{.about = "when the link stops working"}},
                    RuleFor<&SharedLink::size>{{.about = "bytes, encrypted"}}};
}
const Description& describe(Tag<SharedLink>) { return description_of<SharedLink>("SharedLink"); }

BOOST_DESCRIBE_STRUCT(NewSharedLink, (), (days))
constexpr auto rules(Tag<NewSharedLink>) {
  return std::tuple{
      RuleFor<&NewSharedLink::days>{{.about = "how long the link works: 1 to 365 days", .has_default = true}}};
}
const Description& describe(Tag<NewSharedLink>) { return description_of<NewSharedLink>("NewSharedLink"); }

}  // namespace agw
