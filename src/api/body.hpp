#pragma once

#include <type_traits>
#include <utility>

#include "api/request.hpp"
#include "api/response.hpp"
#include "base/async/task.hpp"
#include "base/json/described.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// Runs `work`, on another thread than the loop if the request has a large body: to read the body, or to write a
/// response that contains it. `work` may use what the awaiting coroutine owns. Throws what `work` throws.
/// Example: src/api/body_test.cpp: WorkOnBody.LeavesTheLoopForALargeBody
template <class Work>
auto work_on_body(const Request& request, Work work) -> Task<std::invoke_result_t<Work&>> {
  if (!request.workers) co_return work();
  co_return co_await request.workers->run(std::move(work));
}

/// The body as the described struct declared by the route. `request` must outlive the task. Throws as Request::body
/// does.
template <DescribedStruct T>
Task<T> long_body(Request& request) {
  return work_on_body(request, [&request] { return request.body<T>(); });
}

/// The response to a request whose body is part of it. Both arguments must outlive the task.
template <class T>
Task<Response> respond_in_kind(const Request& request, const T& value) {
  return work_on_body(request, [&] { return request.respond(value); });
}

}  // namespace agw
