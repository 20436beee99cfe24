#pragma once

#include "api/route.hpp"

namespace agw {

class Identities;
class Stages;

/// The endpoints of souls, user profiles and stages.
Routes agent_routes(Identities& identities, Stages& stages);

}  // namespace agw
