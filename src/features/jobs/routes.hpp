#pragma once

#include "api/route.hpp"

namespace agw {

class Clock;
class Jobs;

/// The endpoints of job runs, webhooks, and cron expressions.
Routes job_routes(Jobs& jobs, const Clock& clock);

}  // namespace agw
