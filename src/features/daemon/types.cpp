#include "features/daemon/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(Health, (), (status, uptime))
const Description& describe(Tag<Health>) { return description_of<Health>("Health"); }

BOOST_DESCRIBE_STRUCT(Status, (), (status))
const Description& describe(Tag<Status>) { return description_of<Status>("Status"); }

}  // namespace agw
