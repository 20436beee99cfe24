#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "features/extensions/types.hpp"

namespace agw {

/// The effect of starting a job while an earlier run of it is queued or active.
enum class JobConcurrency { forbid, queue, replace };
std::span<const EnumName> names(Tag<JobConcurrency>);

/// How to handle due times that passed while the gateway was down.
enum class MissedTimes { skip, once };
std::span<const EnumName> names(Tag<MissedTimes>);

/// The parts of a job's definition that its runs need.
struct JobPlan {
  explicit JobPlan(const Extension& job);

  std::string agent_id;                       ///< id or name, as in the definition
  std::optional<std::string> owner_agent_id;  ///< id or name, as in the definition
  std::optional<std::string> prompt;
  std::optional<std::string> prompt_file;
  std::optional<std::string> precheck;  ///< a command that decides whether a run is needed
  std::optional<std::string> model;
  std::string mode = "act";
  double timeout_s = 3600;
  JobConcurrency concurrency = JobConcurrency::forbid;
  MissedTimes missed = MissedTimes::skip;

  /// `timeout_s` as a duration.
  std::chrono::milliseconds timeout() const;
};

/// The job's trigger: its `trigger_def`, else its `schedule`. No value if it has neither, or if it is invalid.
std::optional<Trigger> trigger_of(const Extension& job);

}  // namespace agw
