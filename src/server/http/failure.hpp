#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "api/client_errors.hpp"
#include "api/response.hpp"

namespace agw {

/// Identifies a request in the log. The views must outlive the call.
struct RequestName {
  std::string id;
  std::string_view method;
  std::string_view path;
  Protocol protocol = Protocol::gateway;
};

/// The response to an exception of a handler, whose cause is only logged.
Response failure_response(const std::exception_ptr& failure, const RequestName& request);

}  // namespace agw
