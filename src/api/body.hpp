#pragma once

#include "api/request.hpp"
#include "api/response.hpp"
#include "base/async/task.hpp"
#include "base/json/described.hpp"
#include "base/json/json.hpp"

namespace agw {

// Bodies that may be megabytes. The thread that reads or writes them is not the loop's if they are large.

/// Fills the described struct at `value` with the members of a request's body. Throws BadRequest with the first
/// problem.
void read_body(const json::object& body, const Description& description, void* value);

/// The same as a value, for Request::read_body.
template <DescribedStruct T>
T body_as(const json::object& body) {
  T value;
  read_body(body, describe(Tag<T>{}), &value);
  return value;
}

/// The body as the described struct declared by the route. `request` must outlive the task. Throws as Request::body
/// does.
template <DescribedStruct T>
Task<T> long_body(Request& request) {
  if (!request.workers) co_return request.body<T>();
  co_return co_await request.workers->run([&request] { return request.body<T>(); });
}

/// The response to a request whose body is part of it: large if the body is. Both arguments must outlive the task.
template <class T>
Task<Response> respond_in_kind(const Request& request, const T& value) {
  if (!request.workers) co_return request.respond(value);
  co_return co_await request.workers->run([&] { return request.respond(value); });
}

}  // namespace agw
