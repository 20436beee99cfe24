#pragma once

#include "api/response.hpp"
#include "base/async/task.hpp"
#include "features/cluster/types.hpp"
#include "features/events/hub.hpp"
#include "io/process/blocking.hpp"
#include "server/http/router.hpp"
#include "server/idempotency.hpp"

namespace agw {

/// The parts of the server that answer a request.
struct PassedRequestServices {
  const Router& router;
  Idempotency& idempotency;
  BlockingPool& blocking;
  Hub& hub;
};

/// Answers a request that another node of the cluster passes on, as if the client had sent it here. It is not passed on
/// again.
Task<Response> answer_passed(PassedRequest passed, PassedRequestServices services);

}  // namespace agw
