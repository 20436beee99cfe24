#pragma once

#include "api/route.hpp"

namespace agw {

class Approvals;
class Stages;

/// `/permissions` and `/agents/:name/grants`.
Routes approval_routes(Approvals& approvals, Stages& stages);

}  // namespace agw
