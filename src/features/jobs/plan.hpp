#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "features/extensions/types.hpp"

namespace agw {

/// What starting a job does while an earlier run of it waits or is under way.
enum class JobConcurrency { forbid, queue, replace };
std::span<const EnumName> names(Tag<JobConcurrency>);

/// What becomes of due times that passed while the gateway was down.
enum class MissedTimes { skip, once };
std::span<const EnumName> names(Tag<MissedTimes>);

/// A job's definition as its runs need it.
struct JobPlan {
  explicit JobPlan(const Extension& job);

  std::string agent_id;                       ///< id or name, as written
  std::optional<std::string> owner_agent_id;  ///< likewise
  std::optional<std::string> prompt;
  std::optional<std::string> prompt_file;
  std::optional<std::string> model;
  std::string mode = "act";
  double timeout_s = 3600;
  JobConcurrency concurrency = JobConcurrency::forbid;
  MissedTimes missed = MissedTimes::skip;

  /// `timeout_s` for a timer.
  std::chrono::milliseconds timeout() const;
};

/// What starts the job by itself: its `trigger_def`, else its `schedule`. Nothing where there is neither, or where it
/// does not read.
std::optional<Trigger> trigger_of(const Extension& job);

}  // namespace agw
