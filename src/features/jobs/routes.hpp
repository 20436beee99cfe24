#pragma once

#include "api/route.hpp"
#include "features/jobs/service.hpp"

namespace agw {

/// Runs of jobs, what starts them from outside, and what a cron expression means.
class JobRoutes {
public:
  JobRoutes(Jobs& jobs, const Clock& clock) : jobs_(jobs), clock_(clock) {}
  Routes routes();

private:
  Task<Answer> run(Request& request);
  void check_signature(const Request& request) const;
  Task<Answer> hook(Request& request);
  Task<Answer> list(Request& request);
  Task<Answer> runs(Request& request);
  Task<Answer> stop(Request& request);
  Task<Answer> cron(Request& request);

  Jobs& jobs_;
  const Clock& clock_;
};

}  // namespace agw
