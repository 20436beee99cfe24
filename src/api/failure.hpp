#pragma once

#include <exception>
#include <string>

#include "api/error.hpp"

namespace agw {

/// An exception of a handler, as a client and the log get it.
struct Failure {
  ApiError error;
  std::string cause;  ///< for the log; empty if that needs no entry
};

/// The error is the ApiError's own, 507 for a full disk, otherwise 500.
Failure as_failure(const std::exception_ptr& exception);

}  // namespace agw
