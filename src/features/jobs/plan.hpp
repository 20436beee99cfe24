#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "features/extensions/types.hpp"

namespace agw {

/// The effect of starting a job while an earlier run of it waits or is active.
enum class JobConcurrency { forbid, queue, replace };
std::span<const EnumName> names(Tag<JobConcurrency>);

/// How due times are handled that passed while the gateway was down.
enum class MissedTimes { skip, once };
std::span<const EnumName> names(Tag<MissedTimes>);

/// A job's definition as its runs need it.
struct JobPlan {
  explicit JobPlan(const Extension& job);

  std::string agent_id;                       ///< id or name, as written
  std::optional<std::string> owner_agent_id;  ///< likewise
  std::optional<std::string> prompt;
  std::optional<std::string> prompt_file;
  std::optional<std::string> precheck;  ///< a command that decides whether a run is needed
  std::optional<std::string> model;
  std::string mode = "act";
  double timeout_s = 3600;
  JobConcurrency concurrency = JobConcurrency::forbid;
  MissedTimes missed = MissedTimes::skip;

  /// `timeout_s` for a timer.
  std::chrono::milliseconds timeout() const;
};

/// The job's trigger: its `trigger_def`, else its `schedule`. No value if it has neither, or if it is invalid.
std::optional<Trigger> trigger_of(const Extension& job);

}  // namespace agw
