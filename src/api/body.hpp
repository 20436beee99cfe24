#pragma once

#include "base/json/described.hpp"
#include "base/json/json.hpp"

namespace agw {

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

}  // namespace agw
