#pragma once

#include <string>

#include "features/engine/engine_services.hpp"
#include "features/engine/outcome.hpp"
#include "models/retry.hpp"

namespace agw {

/// Adds usage and cost of a model call to the outcome. A call that was refused before it used a token is ignored.
void record_usage(RunOutcome& outcome, const EngineServices& services, const Extension& agent,
                  const std::string& thread_id, const Completion& completion);

}  // namespace agw
