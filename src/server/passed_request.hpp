#pragma once

#include "api/response.hpp"
#include "base/async/task.hpp"
#include "features/cluster/types.hpp"
#include "features/events/hub.hpp"
#include "io/process/blocking.hpp"
#include "server/http/router.hpp"
#include "server/idempotency.hpp"

namespace agw {

/// The parts of the server that handle a request.
struct PassedRequestServices {
  const Router& router;
  Idempotency& idempotency;
  BlockingPool& blocking;
  Hub& hub;
};

/// Handles a request forwarded by another node of the cluster as if the client had sent it here. It is not forwarded
/// again.
Task<Response> answer_passed(PassedRequest passed, PassedRequestServices services);

}  // namespace agw
