#pragma once

#include <cstddef>

#include "api/other_nodes.hpp"
#include "api/proxy_stream.hpp"
#include "api/request.hpp"
#include "api/response.hpp"
#include "base/async/task.hpp"
#include "io/process/blocking.hpp"
#include "server/http/target.hpp"
#include "server/idempotency.hpp"

namespace agw {

/// Calls the handler of `request.route`, or returns the stored response if an earlier request had the same
/// `Idempotency-Key`. Parses large JSON bodies on `blocking`. Throws an ApiError for an invalid target or key, and any
/// exception of the handler. `request` and `target` must outlive the call. If `others` is given, another node may
/// handle the request.
Task<Response> dispatch(Request& request, const Target& target, Idempotency& idempotency, BlockingPool& blocking,
                        OtherNodes* others = nullptr);

/// The same for a route that streams its response, if `Route::repeatable`.
Task<> dispatch_stream(Request& request, const Target& target, ProxyStream& stream, Idempotency& idempotency,
                       std::size_t body_limit);

}  // namespace agw
