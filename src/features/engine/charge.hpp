#pragma once

#include <string>

#include "features/engine/answer_services.hpp"
#include "features/engine/outcome.hpp"
#include "models/retry.hpp"

namespace agw {

/// Counts a model call for a thread. One that was refused before it used a token has cost nothing.
void charge(RunOutcome& outcome, const AnswerServices& services, const Extension& agent, const std::string& thread_id,
            const Answered& answered);

}  // namespace agw
