#pragma once

#include "base/cut.hpp"

namespace agw {

/// Returns once `stop` has been requested. Who waits keeps it alive.
Task<> requested(Stop& stop);

}  // namespace agw
