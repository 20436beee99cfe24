#pragma once

#include <optional>
#include <string>

#include "api/request.hpp"
#include "api/response.hpp"
#include "base/async/task.hpp"

namespace agw {

/// The record that a request is about. It determines which node of several must handle the request: the node that
/// executes its run or its program.
enum class About {
  nothing,         ///< any node
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
  /// Forwards the request to the node that has the run or program it is about. Returns nullopt if that is this node or
  /// no node, or if the other node cannot be reached and the request only reads. Throws ApiError 503 if it cannot be
  /// reached and the request changes something. `path` is the path as sent.
  virtual Task<std::optional<Response>> answer(const Request& request, const std::string& path) = 0;
};

}  // namespace agw
