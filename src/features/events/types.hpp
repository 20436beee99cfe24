#pragma once

#include <set>
#include <string>

namespace agw {

/// What led to an event, as far as that is known where it is published. None of these jobs is started by it.
struct EventCause {
  std::set<std::string> job_ids;
  int depth = 0;         ///< of a run that the event starts: how many events led to it, one run after the other
  std::string run_id{};  ///< of the run whose agent made what the event tells of; its job is behind the event too
};

}  // namespace agw
