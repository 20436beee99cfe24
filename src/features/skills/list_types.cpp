#include "features/skills/list_types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(ListedSkill, (), (name, description, directory))
const Description& describe(Tag<ListedSkill>) { return description_of<ListedSkill>("ListedSkill"); }

}  // namespace agw
