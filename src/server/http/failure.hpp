#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "api/client_errors.hpp"
#include "api/response.hpp"

namespace agw {

/// How the log names a request. The views must outlive the call.
struct RequestName {
  std::string id;
  std::string_view method;
  std::string_view path;
  Protocol protocol = Protocol::gateway;
};

/// The response for an exception that a handler threw: an ApiError's own, 507 for a full disk, 500 for anything else.
/// The causes of the last two are only logged.
Response failure_response(const std::exception_ptr& failure, const RequestName& request);

}  // namespace agw
