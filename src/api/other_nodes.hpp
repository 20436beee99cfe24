#pragma once

#include <optional>
#include <string>

#include "api/request.hpp"
#include "api/response.hpp"
#include "base/async/task.hpp"

namespace agw {

/// Of which records a request is about, one node of several may have to answer it: the one that has their run, or runs
/// their program.
enum class About {
  nothing,         ///< any node answers
  thread,          ///< `:id` is a thread
  thread_in_body,  ///< the body's `threadId`
  turn,            ///< `:id` is a turn
  permission,      ///< `:id` is a permission request
  run_of_job,      ///< `:id` is the run of a job
  app,             ///< `:name` is an app
  integration,     ///< `:name` is an integration
};

/// The other nodes of a cluster.
class OtherNodes {
public:
  virtual ~OtherNodes() = default;
  /// Has the node answer that has the run or program which the request is about. nullopt if this one has it, if nobody
  /// has, or if the other one cannot be reached and the request only reads. Throws ApiError 503 if it cannot be reached
  /// and the request changes something. `path` is the request's, as sent.
  virtual Task<std::optional<Response>> answer(const Request& request, const std::string& path) = 0;
};

}  // namespace agw
