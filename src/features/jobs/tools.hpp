#pragma once

#include "features/jobs/service.hpp"
#include "tools/tool.hpp"

namespace agw {

/// RunJob: starts a run of a job, with no more rights than the calling run has.
Tool run_job_tool(Jobs& jobs);

}  // namespace agw
